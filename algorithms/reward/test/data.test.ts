import { describe, expect, test } from "@jest/globals";
import { type AlgorithmContext, type JsonValue, scoredAnswer } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { checkRows, readExamples } from "../src/data.ts";
import type { Example } from "../src/example.ts";

const renderer = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
const [stop] = renderer.stopTokenIds;
const contextOf = (rows: JsonValue[], maxPositions = 200): AlgorithmContext =>
  ({
    renderer,
    policy: "policy",
    rows: async () => rows,
    engine: { describe: async () => ({ models: [{ model: "policy", maxPositions }] }) },
  }) as unknown as AlgorithmContext;
const read = (rows: JsonValue[], coefficient = 0, maxPositions = 200): Promise<Example[]> =>
  readExamples(contextOf(rows, maxPositions), "data.jsonl", { margin_coefficient: coefficient });

/** Returns the texts up to each scored token: what the state has read whose value is the score. */
function scoredTexts({ unit }: Example): string[] {
  return unit.sequences.flatMap(({ tokens, mask }) =>
    Array.from(mask.keys()).flatMap((t) => (mask[t] === 1 ? [renderer.decode(tokens.subarray(0, t))] : [])),
  );
}

const episode = (reward: number | null, member: number, text: string, extra: object = {}): JsonValue => ({
  ...{ id: `e${member}`, environment: "e@1", task: "train/0", seed: 1, group: "g", member, agent: "agent" },
  ...{ role: "agent", player: { kind: "policy", name: "policy" }, renderer: "another" },
  messages: [
    { role: "user", content: "q" },
    { role: "assistant", content: text },
  ],
  ...{ segments: [], turns: [], reward, terminated: true, truncated: false, ...extra },
});

describe("pairs", () => {
  test("the score of an answer is read at its stop token, and the chosen answer stands first", async () => {
    const [example] = await read([{ prompt: "q", chosen: "yes", rejected: "no", margin: 0.5 }]);
    expect(example).toMatchObject({ kind: "pair", margin: 0.5 });
    const [chosen, rejected] = scoredTexts(example as Example) as [string, string];
    expect([chosen.endsWith("yes<|end|>"), rejected.endsWith("no<|end|>")]).toEqual([true, true]);
    for (const { tokens, mask } of (example as Example).unit.sequences) {
      const at = mask.indexOf(1);
      expect([mask.lastIndexOf(1), at, tokens[at - 1]]).toEqual([at, tokens.length - 1, stop]);
    }
  });

  test("text of the template behind the stop token is not read: its last token is another than that of the answer", () => {
    const tokens = Int32Array.of(5, 6, stop as number, 7, 8);
    const sequence = scoredAnswer([{ tokens, mask: Uint8Array.of(0, 1, 1, 0, 0) }]);
    expect(Array.from(sequence.tokens.subarray(0, 3))).toEqual([5, 6, stop]);
    expect(Array.from(sequence.mask)).toEqual([0, 0, 0, 1]);
  });

  test("of an episode with several sequences the last one is scored; an answer that was cut at its last token", () => {
    const cut = scoredAnswer([
      { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) },
      { tokens: Int32Array.of(1, 4), mask: Uint8Array.of(0, 1) },
    ]);
    expect([Array.from(cut.tokens), Array.from(cut.mask)]).toEqual([
      [1, 4, 4],
      [0, 0, 1],
    ]);
  });

  test("all episodes of a group with different rewards are paired, with margins by their difference", async () => {
    const rows = [episode(1, 0, "a"), episode(0, 1, "b"), episode(0, 2, "c"), episode(0.5, 3, "d")];
    const found = await read(
      [...rows, episode(null, 4, "x"), episode(1, 5, "y", { error: { code: "C", message: "m" } })],
      2,
    );
    const pairs = found.map((each) => [
      ...scoredTexts(each).map((text) => text.at(-"<|end|>".length - 1)),
      each.kind === "pair" ? each.margin : undefined,
    ]);
    expect(pairs).toEqual([
      ["a", "b", 2],
      ["a", "c", 2],
      ["a", "d", 1],
      ["d", "b", 1],
      ["d", "c", 1],
    ]);
  });

  test("what does not fit with the token behind its end is refused with its place", async () => {
    const row = { prompt: "q", chosen: "yes", rejected: "no" };
    const length = Math.max(...((await read([row]))[0] as Example).unit.sequences.map(({ tokens }) => tokens.length));
    await expect(read([row], 0, length)).resolves.toHaveLength(1);
    await expect(read([row], 0, length - 1)).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining("data.jsonl:1"),
    });
  });
});

describe("judged steps", () => {
  const messages = [
    { role: "user", content: "q" },
    { role: "assistant", content: "one" },
    { role: "user", content: "on" },
    { role: "assistant", content: "two" },
  ];

  test("each assistant message is scored at its own stop token, in the order of the labels", async () => {
    const [example] = await read([{ messages, labels: [true, 0.25] }]);
    expect(example).toMatchObject({ kind: "steps", labels: [1, 0.25] });
    const texts = scoredTexts(example as Example);
    expect(texts.map((text) => text.slice(-"one<|end|>".length))).toEqual(["one<|end|>", "two<|end|>"]);
  });

  test.each([
    [[{ messages, labels: [true] }], "1 labels for 2"],
    [[{ messages, labels: [true, 2] }], "not {messages, labels}"],
    [
      [
        { messages, labels: [true, false] },
        { prompt: "q", chosen: "a", rejected: "b" },
      ],
      "several forms",
    ],
    [[{ prompt: "q", completion: "a", label: true }], "single answer"],
    [[{ prompt: "q", chosen: "a", rejected: "b", margin: -1 }], "margin"],
    [[], "no rows"],
    [[episode(1, 0, "a"), episode(1, 1, "b")], "different rewards"],
  ])("rows %j are refused before training", (rows, reason) => {
    expect(() => checkRows(rows as JsonValue[], "data.jsonl")).toThrow(
      expect.objectContaining({ code: "DATA_INVALID", message: expect.stringContaining(reason) }),
    );
  });
});

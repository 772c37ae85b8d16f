import { describe, expect, test } from "@jest/globals";
import { type AlgorithmContext, type JsonValue, textMessage } from "@mrlm/kit/learning";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import fc from "fast-check";
import { pairMembers, type Ranked } from "../src/episode-pairs.ts";
import { checkPairRows, pairsFromFile, type RowOptions } from "../src/file-pairs.ts";
import { type Pair, pairFromJson, pairSums, pairToJson } from "../src/pair.ts";

const PAIRS: RowOptions = { loss: "sigmoid", pairs_per_group: 1 };
const KTO: RowOptions = { ...PAIRS, loss: "kto" };
const renderer = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
const contextOf = (rows: JsonValue[], maxPositions = 100): AlgorithmContext =>
  ({
    renderer,
    policy: "policy",
    rows: async () => rows,
    engine: { describe: async () => ({ models: [{ model: "policy", maxPositions }] }) },
    logger: silentLogger,
  }) as unknown as AlgorithmContext;
const pairOf = async (row: JsonValue): Promise<Pair> =>
  (await pairsFromFile(contextOf([row]), "data.jsonl", PAIRS))[0] as Pair;
const responseOf = ([sequence]: Pair["chosen"]): string =>
  sequence === undefined ? "" : renderer.decode(sequence.tokens.filter((_, t) => sequence.mask[t] === 1));

describe("pairs of a file", () => {
  test("numerics 43: the prompt's ids begin both answers, and only the answers and their stop tokens are compared", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (prompt, chosen, rejected) => {
        const pair = await pairOf({ prompt, chosen, rejected });
        const asked = Array.from(renderer.render([{ role: "user", parts: [{ type: "text", text: prompt }] }]).tokens);
        for (const [answer] of [pair.chosen, pair.rejected]) {
          expect(Array.from(answer?.tokens.subarray(0, asked.length) ?? [])).toEqual(asked);
          expect(answer?.mask.indexOf(1)).toBe(asked.length);
          expect(answer?.mask.lastIndexOf(0)).toBe(asked.length - 1);
        }
      }),
    );
  });

  test("messages are equivalent to text, and earlier answers belong to the prompt", async () => {
    const messages = await pairOf({
      prompt: [{ role: "user", content: "q" }],
      chosen: [{ role: "assistant", content: "yes" }],
      rejected: [{ role: "assistant", content: "no" }],
    });
    expect(messages).toEqual(await pairOf({ prompt: "q", chosen: "yes", rejected: "no" }));
    const later = await pairOf({
      prompt: [
        { role: "user", content: "q" },
        { role: "assistant", content: "what?" },
        { role: "user", content: "q!" },
      ],
      chosen: "yes",
      rejected: "no",
    });
    expect([responseOf(later.chosen), responseOf(later.rejected)]).toEqual(["yes<|end|>", "no<|end|>"]);
  });

  test("numerics 42: an empty answer still has its stop token; a row that does not fit is refused, never cut", async () => {
    expect(responseOf((await pairOf({ prompt: "q", chosen: "", rejected: "no" })).chosen)).toBe("<|end|>");
    await expect(
      pairsFromFile(contextOf([{ prompt: "q", chosen: "yes", rejected: "no" }], 5), "data.jsonl", PAIRS),
    ).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(/data.jsonl:1 has \d+ tokens; the model takes 5/),
    });
  });

  test("a row of another shape is refused with its line", async () => {
    await expect(
      pairsFromFile(
        contextOf([
          { prompt: "q", chosen: "a", rejected: "b" },
          { prompt: "q", chosen: "a" },
        ]),
        "data.jsonl",
        PAIRS,
      ),
    ).rejects.toMatchObject({ code: "DATA_INVALID", message: expect.stringMatching(/data.jsonl:2/) });
    const faults: [JsonValue, RegExp][] = [
      [{ prompt: "q", choosen: "a", rejected: "b" }, /it has no chosen, but prompt, choosen, rejected\./],
      [["q", "a"], /it has no prompt and no chosen and no rejected/],
      [{ prompt: "q", chosen: 5, rejected: "b" }, /chosen must be text or messages/],
    ];
    expect(() =>
      checkPairRows([{ prompt: "q", chosen: "a", rejected: "b" }], "data.jsonl", { ...PAIRS, pairs_per_group: 2 }),
    ).toThrow(
      expect.objectContaining({ code: "DATA_INVALID", message: expect.stringContaining("has judged answers already") }),
    );
    for (const [row, message] of faults)
      await expect(pairsFromFile(contextOf([row]), "data.jsonl", PAIRS)).rejects.toMatchObject({
        code: "DATA_INVALID",
        message: expect.stringMatching(message),
      });
  });
});

describe("single answers of a file", () => {
  const good = { prompt: "q", completion: "yes", label: true };
  const bad = { prompt: "q", completion: [{ role: "assistant", content: "no" }], label: false };

  test("are pairs without the other answer, with the tokens that they have in a pair", async () => {
    const [yes, no] = await pairsFromFile(contextOf([good, bad]), "f", KTO);
    const pair = await pairOf({ prompt: "q", chosen: "yes", rejected: "no" });
    expect(yes).toEqual({ chosen: pair.chosen, rejected: [] });
    expect(no).toEqual({ chosen: [], rejected: pair.rejected });
    expect(pairFromJson(JSON.parse(JSON.stringify(pairToJson(no as Pair))))).toEqual(no);
    expect(pairSums(no as Pair, { logprob: Float32Array.of(-1, -2) })).toEqual({ chosen: 0, rejected: -3 });
    await expect(pairsFromFile(contextOf([good], 5), "f", KTO)).rejects.toMatchObject({ code: "DATA_INVALID" });
  });

  test.each<[string, JsonValue[], RowOptions, RegExp]>([
    ["without a label", [good, { prompt: "q", completion: "no" }], KTO, /f:2 is not .*label}: it has no label, but/],
    ["with a number as label", [{ ...good, label: 1 }], KTO, /label must be true \(desirable\) or false/],
    ["with a label and no answer", [{ prompt: "q", label: true }], KTO, /it has no completion/],
    ["with a number as answer", [{ ...good, completion: 5 }], KTO, /completion must be text or messages/],
    ["among pairs", [good, { prompt: "q", chosen: "a", rejected: "b" }], KTO, /single answers among pairs/],
    ["with a loss of pairs", [good, bad], { ...KTO, loss: "orpo" }, /loss: orpo compares two answers/],
    ["of one kind", [good, good], KTO, /All 2 answers of f have label true/],
    ["with a reward to divide them", [good, bad], { ...KTO, desirable_reward: 1 }, /desirable_reward is of episodes/],
  ])("%s are refused", (_name, rows, options, message) => {
    expect(() => checkPairRows(rows, "f", options)).toThrow(
      expect.objectContaining({ code: "DATA_INVALID", message: expect.stringMatching(message) }),
    );
  });
});

describe("pairs of recorded episodes", () => {
  const row = (group: string, response: string, reward: number | null): JsonValue => {
    const { tokens, mask } = renderer.supervise([
      textMessage("user", "q"),
      textMessage("assistant", response),
    ])[0] as Pair["chosen"][number];
    const segment = {
      tokens: [...tokens],
      mask: [...mask],
      logprobs: [...mask].map(() => 0),
      versions: [...mask].map(() => 0),
      parent: null,
    };
    return {
      id: response,
      environment: "e@1",
      task: "train/1",
      seed: 1,
      group,
      member: 0,
      agent: "agent",
      role: "agent",
      player: { kind: "policy", name: "policy", policy: "policy" },
      renderer: renderer.fingerprint,
      messages: [],
      segments: [segment],
      turns: [],
      reward,
      terminated: true,
      truncated: false,
    };
  };
  const rows = [
    row("g", "best", 3),
    row("h", "one", 1),
    row("g", "worst", 0),
    row("g", "lost", null),
    row("g", "good", 2),
    row("g", "bad", 1),
    row("h", "two", 1),
    // An opponent's answer, which would be the best of its group.
    { ...(row("g", "rival", 9) as object), role: "agent", player: { kind: "model", name: "rival" } },
  ];

  test("are made within groups, by reward; what has no score takes no part", async () => {
    const words = async (count: number) =>
      (await pairsFromFile(contextOf(rows), "f", { ...PAIRS, pairs_per_group: count })).map(({ chosen, rejected }) =>
        [responseOf(chosen), responseOf(rejected)].map((text) => text.replace("<|end|>", "")),
      );
    expect(await words(1)).toEqual([["best", "worst"]]);
    expect(await words(2)).toEqual([
      ["best", "worst"],
      ["good", "bad"],
    ]);
  });

  test("are single answers with desirable_reward, on both sides of it", async () => {
    const kinds = (await pairsFromFile(contextOf(rows), "f", { ...KTO, desirable_reward: 2 })).map(
      ({ chosen, rejected }) => [chosen, rejected].map((answer) => responseOf(answer).replace("<|end|>", "")),
    );
    expect(kinds).toEqual([
      ["best", ""],
      ["", "worst"],
      ["good", ""],
      ["", "bad"],
      ["", "one"],
      ["", "two"],
    ]);
    expect(() => checkPairRows(rows, "f", { ...KTO, desirable_reward: 4 })).toThrow(
      expect.objectContaining({
        message:
          "All 6 answers of f have a reward of at least 4: false: the loss needs desirable and undesirable answers.",
      }),
    );
  });

  test("need two episodes of a task, and a file of their own", async () => {
    expect(() => checkPairRows(rows.slice(0, 2), "f", PAIRS)).toThrow(
      expect.objectContaining({ code: "DATA_INVALID", hint: expect.stringContaining("--group-size") }),
    );
    expect(() => checkPairRows([...rows, { prompt: "q", chosen: "a", rejected: "b" }], "f", PAIRS)).toThrow(
      expect.objectContaining({ code: "DATA_INVALID" }),
    );
  });
});

describe("pairs of a group", () => {
  const member = (reward: number): Ranked => ({
    reward,
    rows: [{ tokens: Int32Array.of(0, reward), mask: Uint8Array.of(0, 1) }],
  });
  const rewardsOf = (pairs: Pair[]): (number | undefined)[][] =>
    pairs.map(({ chosen, rejected }) => [chosen[0]?.tokens[1], rejected[0]?.tokens[1]]);

  test("the best against the worst, then the next, as long as their rewards differ", () => {
    const group = [3, 1, 5, 2, 4].map(member);
    expect(rewardsOf(pairMembers(group, 1))).toEqual([[5, 1]]);
    expect(rewardsOf(pairMembers(group, 9))).toEqual([
      [5, 1],
      [4, 2],
    ]);
    expect(pairMembers([2, 2, 2].map(member), 9)).toEqual([]);
    expect(rewardsOf(pairMembers([1, 2, 2, 2].map(member), 9))).toEqual([[2, 1]]);
  });
});

test("a pair is equal after a checkpoint, and each answer has its own sum", () => {
  const pair: Pair = {
    chosen: [
      { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) },
      { tokens: Int32Array.of(1, 4), mask: Uint8Array.of(0, 1) },
    ],
    rejected: [{ tokens: Int32Array.of(1, 5), mask: Uint8Array.of(0, 1) }],
  };
  expect(pairFromJson(JSON.parse(JSON.stringify(pairToJson(pair))))).toEqual(pair);
  expect(pairSums(pair, { logprob: Float32Array.of(-1, -2, -4, -8) })).toEqual({ chosen: -7, rejected: -8 });
});

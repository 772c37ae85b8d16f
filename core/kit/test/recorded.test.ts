import { describe, expect, test } from "@jest/globals";
import { type JsonValue, type Message, score, type Trajectory, type TurnRecord, unscored } from "@mrlm/spec";
import fc from "fast-check";
import { textMessage } from "../src/index.ts";
import {
  chatMessage,
  chatTools,
  fromChatTools,
  recordedSequences,
  fromChatMessage,
  gradesOf,
  isLearnable,
  judgementsOf,
  parseRecordedRow,
  type RecordedRow,
  toChatMessages,
  toRecordedRows,
  withoutGrades,
} from "../src/learning.ts";
import { characterTokenizerFiles, chatRenderer } from "../src/renderer.ts";

const renderer = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
const throughJson = <T>(value: T): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

/** Returns an episode of one turn in which "hi" was answered with "yo". */
function episode(
  changes: Partial<Trajectory> = {},
  total = score(0.5, { correct: 0.5 }) as Trajectory["agents"][string]["total"],
): Trajectory {
  const prompt = renderer.render([textMessage("user", "hi")]).tokens;
  const response = renderer
    .supervise([textMessage("user", "hi"), textMessage("assistant", "yo")])[0]
    ?.tokens.subarray(prompt.length) as Int32Array;
  const chosen = (value: number, other: number): number[] => [
    ...Array.from(prompt, () => other),
    ...Array.from(response, () => value),
  ];
  const segment = {
    tokens: Int32Array.of(...prompt, ...response),
    logprobs: Float32Array.from(chosen(-0.3, 0)),
    mask: Uint8Array.from(chosen(1, 0)),
    versions: Int32Array.from(chosen(7, -1)),
    parent: null,
  };
  return {
    id: "g/0",
    environment: "e@1",
    task: "train/0",
    seed: 5,
    group: "g",
    member: 0,
    seconds: { sampling: 0, environment: 0 },
    turns: [
      {
        agent: "agent",
        messages: [textMessage("user", "hi")],
        response: textMessage("assistant", "yo"),
        tokens: { segment: 0, start: prompt.length, end: segment.tokens.length },
        stopReason: "stop",
        rewards: { agent: total },
      },
    ],
    agents: {
      agent: {
        role: "agent",
        player: { kind: "policy", name: "policy", policy: "policy" },
        segments: [segment],
        total,
        end: { terminated: true, truncated: false },
      },
    },
    ...changes,
  };
}

test("a row has the shared reward and its weights, and is learnt from by it", () => {
  const [part] = Object.values(episode().agents) as [Trajectory["agents"][string]];
  const shared = { ...score(0.75), weights: { agent: 1, "browser#1": 0.25 } };
  const [row] = toRecordedRows(episode({ agents: { agent: { ...part, shared } } }), () => "r") as [RecordedRow];
  const weights = [
    { agent: "agent", weight: 1 },
    { agent: "browser#1", weight: 0.25 },
  ];
  expect(row.shared).toEqual({ reward: 0.75, weights });
  expect(parseRecordedRow(throughJson(row), "a row")).toEqual(row);
  expect([isLearnable(row, 0.75), isLearnable(row, 0.76)]).toEqual([true, false]);
  const lost = { ...unscored("JUDGE_FAILED", "down"), weights: shared.weights };
  const [unlearnt] = toRecordedRows(episode({ agents: { agent: { ...part, shared: lost } } }), () => "r");
  expect(unlearnt).toMatchObject({ reward: row.reward, shared: { reward: null, weights } });
  expect(isLearnable(unlearnt as RecordedRow)).toBe(false);
  expect(toRecordedRows(episode(), () => "r")[0]).not.toHaveProperty("shared");
});

test("a row has the calls of tools without their seconds, and reads back", () => {
  const info = { tools: { calculator: { calls: 2, errors: 1, truncated: 0, seconds: 0.1 } } };
  const [row] = toRecordedRows(episode({ info }), () => "r");
  expect(row?.tool_usage).toEqual([{ name: "calculator", calls: 2, errors: 1, truncated: 0 }]);
  expect(parseRecordedRow(throughJson(row), "a row")).toEqual(row);
  expect(toRecordedRows(episode(), () => "r")[0]).not.toHaveProperty("tool_usage");
});

test("a row has the grades of its agent's answers, and reads back", () => {
  const graded = { scorer: "math@2", agent: "agent", verdict: "unreadable", reason: "no number" };
  const given = [
    { ...graded, step: 0, reward: score(0), extracted: "\\square" },
    { ...graded, step: 1, verdict: "bad-reference", reward: unscored("SCORER_REFERENCE_INVALID", "no number") },
    { ...graded, step: 1, agent: "other", reward: score(1) },
  ];
  const judged = { judge: "rules@1", step: 1, verdict: "pro", reason: "better", rewards: { agent: score(1) } };
  const none = [null, { ...graded, step: 0 }, { ...graded, step: 0, reward: score(0), extracted: 7 }];
  const info = { judgements: [given[0], judged, given[1], given[2], ...none] as unknown as JsonValue[], other: 1 };
  const [row] = toRecordedRows(episode({ info }), () => "r");
  const { agent: _, ...shown } = graded;
  expect(row?.grades).toEqual([
    { ...shown, step: 0, extracted: "\\square", reward: 0 },
    { ...shown, step: 1, verdict: "bad-reference", extracted: null, reward: null },
  ]);
  expect(row?.judgements).toHaveLength(1);
  expect(parseRecordedRow(throughJson(row), "a row")).toEqual(row);
  expect(gradesOf({ info })).toEqual(given);
  expect(toRecordedRows(episode(), () => "r")[0]).not.toHaveProperty("grades");
  expect(withoutGrades({ info })).toEqual({ info: { judgements: [judged, ...none], other: 1 } });
  expect(withoutGrades({ info: { judgements: given as unknown as JsonValue[] } })).toEqual({});
});

test("any value in the place of judgements is read without an error, and ignored where it is none", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const info = { judgements: value as JsonValue };
      expect(gradesOf({ info })).toEqual([]);
      expect(withoutGrades({ info })).toEqual({ info });
    }),
  );
});

test("a row has the judgements of the episode with its agent's rewards, and reads back", () => {
  const judged = { judge: "rules@1", verdict: "pro", reason: "better evidence" };
  const given = [
    { ...judged, step: 0, rewards: { agent: score(0.5), other: score(-0.5) }, detail: { any: 1 } },
    { ...judged, step: 3, rewards: { agent: unscored("SCORER_FAILED", "gone") } },
    { ...judged, step: 4, rewards: { other: score(1) } },
  ];
  const none = [null, 7, { ...judged, step: "0", rewards: {} }, { ...judged, step: 0, rewards: { agent: 1 } }];
  const info = { judgements: [...given, ...none] as unknown as JsonValue[] };
  const [row] = toRecordedRows(episode({ info }), () => "r");
  expect(row?.judgements).toEqual([
    { ...judged, step: 0, reward: 0.5 },
    { ...judged, step: 3, reward: null },
    { ...judged, step: 4, reward: null },
  ]);
  expect(parseRecordedRow(throughJson(row), "a row")).toEqual(row);
  expect(judgementsOf({ info })).toEqual(given);
  expect(judgementsOf({ info: { judgements: "an environment's own" } })).toEqual([]);
  expect(toRecordedRows(episode(), () => "r")[0]).not.toHaveProperty("judgements");
});

const [whole] = toRecordedRows(episode(), () => renderer.fingerprint);

describe("a recorded row", () => {
  test("holds the trajectory down to the tokens, and survives its file", () => {
    const row = parseRecordedRow(throughJson(whole), "f:1");
    expect(row).toMatchObject({
      task: "train/0",
      seed: 5,
      group: "g",
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "yo" },
      ],
      reward: 0.5,
      components: { correct: 0.5 },
      terminated: true,
      turns: [{ stop_reason: "stop", reward: 0.5 }],
    });
    const { segments } = episode().agents["agent"] as Trajectory["agents"][string];
    expect(row.segments).toEqual(
      segments.map(({ tokens, logprobs, mask, versions, parent }) => ({
        tokens: [...tokens],
        logprobs: [...logprobs],
        mask: [...mask],
        versions: [...versions],
        parent,
      })),
    );
  });

  test("numerics 54: without a score there is no reward, and the cause is recorded", () => {
    const [lost] = toRecordedRows(episode({}, unscored("SCORER_FAILED", "gone")), () => "r");
    const [failed] = toRecordedRows(episode({ error: { code: "ENVIRONMENT_FAILED", message: "gone" } }), () => "r");
    const [nothing] = toRecordedRows(
      episode({ agents: {}, turns: [], error: { code: "ENVIRONMENT_FAILED", message: "gone" } }),
      () => "r",
    );
    expect([lost, failed, nothing].map((row) => [row?.reward, row?.unscored?.code, row?.error?.code])).toEqual([
      [null, "SCORER_FAILED", undefined],
      [null, undefined, "ENVIRONMENT_FAILED"],
      [null, undefined, "ENVIRONMENT_FAILED"],
    ]);
    for (const row of [lost, failed, nothing])
      expect(isLearnable(parseRecordedRow(throughJson(row), "f:1"))).toBe(false);
  });

  test("numerics 27: the same tokenizer trains on the sampled tokens; another one renders the messages again", () => {
    const row = parseRecordedRow(throughJson(whole), "f:1");
    // "y" and "o" might also have been one token: what was sampled counts.
    const odd = {
      ...row,
      segments: [{ tokens: [1, 2, 3], logprobs: [0, -1, -1], mask: [0, 1, 1], versions: [-1, 0, 0], parent: null }],
    };
    expect(recordedSequences(odd, renderer)).toEqual([
      { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) },
    ]);
    const other = chatRenderer({ tokenizerFiles: characterTokenizerFiles({ alphabet: "yohi" }), eosTokenIds: [] });
    expect(other.fingerprint).not.toBe(renderer.fingerprint);
    expect(recordedSequences(odd, other)).toEqual(
      other.supervise([textMessage("user", "hi"), textMessage("assistant", "yo")]),
    );
  });

  test("has the tools of the conversation, which another tokenizer renders too", () => {
    const tools = [{ name: "f", description: "d", parameters: { type: "object" } }];
    const [turn] = episode().turns as [TurnRecord];
    const turns = [{ ...turn, tools: [] }, { ...turn, tools }, turn];
    const [row] = toRecordedRows(episode({ turns }), () => "another renderer");
    const { tools: written, ...rest } = parseRecordedRow(throughJson(row), "f:1");
    expect(fromChatTools(written ?? [])).toEqual(tools);
    expect(whole?.tools).toBeNull();
    const seen: unknown[] = [];
    const spy = { ...renderer, supervise: (_: unknown, given: unknown) => (seen.push(given), []) };
    recordedSequences({ ...rest, tools: written }, spy);
    recordedSequences({ ...rest, tools: null }, spy);
    expect(seen).toEqual([tools, []]);
  });

  test("a conversation that started over is rendered as two, and an exhausted turn is in neither", () => {
    const [turn] = episode().turns as [TurnRecord];
    const { tokens: _, ...exhausted } = {
      ...turn,
      response: { role: "assistant", parts: [] },
      stopReason: "exhausted",
    } as TurnRecord;
    const [row] = toRecordedRows(
      episode({ turns: [turn, { ...turn, isFresh: true }, exhausted] }),
      () => "another renderer",
    );
    const parsed = parseRecordedRow(throughJson(row), "f:1");
    expect(parsed).toMatchObject({ fresh_at: [2], messages: { length: 4 }, turns: { length: 2 } });
    const [alone] = renderer.supervise([textMessage("user", "hi"), textMessage("assistant", "yo")]);
    expect(recordedSequences(parsed, renderer)).toEqual([alone, alone]);
    const unmarked = recordedSequences({ ...parsed, fresh_at: undefined }, renderer);
    expect(unmarked).not.toEqual([alone, alone]);
  });

  test("a row of another form is refused with its place", () => {
    expect(() => parseRecordedRow({ segments: [] }, "f:3")).toThrow(/^f:3 is not a recorded episode/);
  });
});

describe("chat messages", () => {
  const messages: fc.Arbitrary<Message> = fc.oneof(
    fc.record({
      role: fc.constantFrom("user" as const, "system" as const),
      parts: fc.tuple(fc.record({ type: fc.constant("text" as const), text: fc.string({ minLength: 1 }) })),
    }),
    fc
      .tuple(
        fc.string(),
        fc.string({ minLength: 1 }),
        fc.array(
          fc.record({
            type: fc.constant("malformed-call" as const),
            text: fc.string(),
            format: fc.string(),
            error: fc.string(),
            offset: fc.nat(),
          }),
        ),
        // Calls without an id get one, and doubled ids are made different.
        fc.uniqueArray(
          fc.record({
            type: fc.constant("tool-call" as const),
            id: fc.string({ minLength: 1 }),
            name: fc.string(),
            arguments: fc.dictionary(fc.string(), fc.integer()),
          }),
          { selector: ({ id }) => id },
        ),
      )
      .map(([thought, text, malformed, calls]): Message => ({
        role: "assistant",
        parts: [
          ...(thought === "" ? [] : [{ type: "thinking" as const, text: thought }]),
          { type: "text", text },
          // Text between malformed calls.
          ...malformed.flatMap((call, i) => (i % 2 === 0 ? [call] : [{ type: "text" as const, text: "-" }, call])),
          ...calls,
        ],
      })),
    fc
      .tuple(fc.string({ minLength: 1 }), fc.string(), fc.string({ minLength: 1 }))
      .map(([id, name, text]): Message => ({
        role: "tool",
        parts: [{ type: "tool-result", id, name, content: [{ type: "text", text }], isError: false }],
      })),
  );

  test("keep text, reasoning, calls and results", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const [written, ...more] = toChatMessages(message);
        expect(more).toEqual([]);
        expect(fromChatMessage(chatMessage.parse(JSON.parse(JSON.stringify(written))))).toEqual(
          JSON.parse(JSON.stringify(message)),
        );
      }),
    );
  });

  test("have malformed calls in their content, which lists their places", () => {
    const call = { type: "malformed-call" as const, text: "<x", format: "hermes", error: "E.", offset: 1 };
    const [written] = toChatMessages({ role: "assistant", parts: [{ type: "text", text: "a" }, call] });
    const { type: _, ...listed } = call;
    expect(written).toEqual({ role: "assistant", content: "a<x", malformed_calls: [{ at: 1, ...listed }] });
    for (const [content, ...places] of [
      ["a<x", 0],
      ["a<x", 2],
      ["<x<x", 2, 0],
      [undefined, 0],
    ] as const)
      expect(
        chatMessage.safeParse({ role: "assistant", content, malformed_calls: places.map((at) => ({ at, ...listed })) })
          .success,
      ).toBe(false);
  });

  test("tools are read as a list, without their outer objects, or as JSON text", () => {
    const f = { name: "f", description: "d", parameters: { type: "object" } };
    const listed = [{ type: "function", function: f }];
    for (const tools of [listed, JSON.stringify(listed), [f], [{ ...f, parameters: JSON.stringify(f.parameters) }]])
      expect(fromChatTools(chatTools.parse(tools))).toEqual([f]);
    expect(fromChatTools(chatTools.parse([{ name: "f" }]))).toEqual([{ name: "f", description: "", parameters: {} }]);
    for (const tools of ["[", "{}", [{}], [{ ...f, parameters: "1" }]])
      expect(chatTools.safeParse(tools).success).toBe(false);
  });

  test("several results are several messages; a picture leaves its media type; arguments must be an object", () => {
    const result = (id: string) => ({
      type: "tool-result" as const,
      id,
      name: "t",
      content: [{ type: "image" as const, mediaType: "image/png", source: { url: "x" } }],
      isError: false,
    });
    expect(
      toChatMessages({ role: "tool", parts: [result("1"), result("2")] }).map(({ content, tool_call_id }) => [
        tool_call_id,
        content,
      ]),
    ).toEqual([
      ["1", "[image/png]"],
      ["2", "[image/png]"],
    ]);
    expect(
      chatMessage.safeParse({ role: "assistant", tool_calls: [{ function: { name: "f", arguments: "[1" } }] }).success,
    ).toBe(false);
  });
});

import { expect, test } from "@jest/globals";
import type { JsonObject, Trajectory, TurnRecord } from "@mrlm/spec";
import { callsOf } from "../src/reader/episode-calls.ts";

const counts = { calls: 0, segments: 0, rewritten: 0, forked: 0, retried: 0, refused: 0 };
const turn = (agent: string, segment: number, start: number, isFresh = false): TurnRecord => ({
  agent,
  messages: [],
  response: { role: "assistant", parts: [] },
  tokens: { segment, start, end: start + 2 },
  stopReason: "stop",
  rewards: {},
  ...(isFresh && { isFresh }),
});
const segment = (logprobs: readonly number[], mask: readonly number[]) => ({
  tokens: Int32Array.from(logprobs.map((_, i) => i)),
  logprobs: Float32Array.from(logprobs),
  mask: Uint8Array.from(mask),
  versions: Int32Array.from(logprobs.map(() => 1)),
  parent: null,
});

/** Episode of one agent with three turns, of which the second starts over and is not read. */
function episode(info: Trajectory["info"], changes: Partial<Trajectory["agents"][string]> = {}): Trajectory {
  return {
    ...{ id: "e", environment: "a@1", task: "train/0", seed: 0, group: "g", member: 0 },
    turns: [turn("a", 0, 1), turn("a", 1, 0, true), turn("a", 1, 3)],
    agents: {
      a: {
        role: "a",
        player: { kind: "policy", name: "policy", policy: "policy" },
        segments: [segment([0, -1, Number.NaN], [0, 1, 1]), segment([-1, -1, 0, -1, -1], [0, 0, 0, 1, 1])],
        total: { scored: true, value: 1, components: {} },
        end: { terminated: true, truncated: false },
        ...changes,
      },
    },
    ...(info !== undefined && { info }),
    seconds: { sampling: 0, environment: 0 },
  };
}
const recorded: JsonObject = {
  agent: {
    ...counts,
    wasted: [1],
    turns: [
      { call: 0, match: "first", parent: null, at: 0.5, seconds: 1, retries: [1.75] },
      { call: 2, match: "rewritten", parent: 0, at: 1.5, seconds: 1, retries: [], unread: "aborted" },
      { call: 3, match: "continues", parent: 2, at: 3, seconds: 1, retries: [] },
    ],
  },
};
const reasons = (calls: ReturnType<typeof callsOf>): unknown =>
  calls?.flatMap(({ match, learnt, unlearnt }) => (match === "retry" ? [] : [[learnt, unlearnt]]));

test("calls and retries in order of time, with the branches that they begin", () => {
  const calls = callsOf(episode(recorded), [], "ready");
  expect(calls?.map(({ turn: of, match, parent, isBranch, at }) => [of, match, parent, isBranch, at])).toEqual([
    [0, "first", null, true, 0.5],
    [1, "rewritten", 0, true, 1.5],
    [0, "retry", 0, true, 1.75],
    [2, "continues", 1, false, 3],
  ]);
});

test("each token is learnt, or has a reason", () => {
  const credit = { learner: "grpo/policy", agent: "a", advantage: 0.5 };
  const unread = [0, { aborted: 2 }];
  const shown = (...given: Parameters<typeof callsOf>): unknown => reasons(callsOf(...given));
  expect(shown(episode(recorded), [credit], "taken")).toEqual([[1, { "non-finite": 1 }], unread, [2, {}]]);
  const without = (reason: string): unknown => [[0, { [reason]: 1, "non-finite": 1 }], unread, [0, { [reason]: 2 }]];
  expect(shown(episode(recorded), [], "ready")).toEqual(without("ready"));
  expect(shown(episode(recorded), [], "taken")).toEqual(without("left out by the algorithm"));
  const unscored = { scored: false, code: "AGENT_SCORE_FAILED", message: "" } as const;
  expect(shown(episode(recorded, { total: unscored }), [], "taken")).toEqual(without("unscored: AGENT_SCORE_FAILED"));
  const error = { code: "ENGINE_EXITED", message: "" };
  expect(shown({ ...episode(recorded), error }, [], "taken")).toEqual(without("failed: ENGINE_EXITED"));
  const frozen = { kind: "model", name: "m" } as never;
  expect(shown(episode(recorded, { player: frozen }), [], "taken")).toEqual(without("player: model"));
});

test("an episode that the run has ended has no records of calls; one of another environment has no calls", () => {
  const cut = { agent: { ...counts, wasted: [1] } };
  const calls = callsOf(episode(cut), [], "ready");
  expect(calls?.map(({ match, parent, isBranch }) => [match, parent, isBranch])).toEqual([
    [undefined, null, true],
    [undefined, null, true],
    [undefined, 1, false],
  ]);
  expect(calls?.[1]?.unlearnt).toEqual({ "not read": 2 });
  const others: JsonObject[] = [{}, { agent: "text" }, { agent: { wasted: 1 } }];
  for (const info of [undefined, ...others]) expect(callsOf(episode(info), [], "ready")).toBeUndefined();
});

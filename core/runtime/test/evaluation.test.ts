import { describe, expect, test } from "@jest/globals";
import {
  type JsonValue,
  type Reward,
  score,
  type StopReason,
  type Trajectory,
  type TurnRecord,
  unscored,
} from "@mrlm/spec";
import fc from "fast-check";
import { bootstrapInterval, shareInterval, wilsonInterval } from "../src/evaluation/intervals.ts";
import { passAtK, passAtKs } from "../src/evaluation/pass-at-k.ts";
import { summariseEpisodes } from "../src/evaluation/summarise.ts";

const round = (interval: readonly number[] | null | undefined) => interval?.map((end) => Number(end.toFixed(4)));

describe("intervals", () => {
  test("Wilson's: published values, and the ends", () => {
    expect(round(wilsonInterval(0.5, 10))).toEqual([0.2366, 0.7634]);
    expect(round(wilsonInterval(1, 10))).toEqual([0.7225, 1]);
    expect(round(wilsonInterval(0, 100))).toEqual([0, 0.037]);
    expect(wilsonInterval(0.5, 0)).toBeNull();
  });

  test("Wilson's holds the proportion and narrows with more observations", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 50 }), (k, n) => {
        const p = Math.min(k, n) / n;
        const [low, high] = wilsonInterval(p, n) as [number, number];
        const [lower, higher] = wilsonInterval(p, 4 * n) as [number, number];
        expect(low <= p + 1e-12 && p <= high + 1e-12 && higher - lower < high - low).toBe(true);
      }),
    );
  });

  test("shares of tasks: between the interval of as many tasks and that of as many episodes", () => {
    expect(shareInterval([1, 0, 1, 0], 4)).toEqual(wilsonInterval(0.5, 4));
    expect(shareInterval([0.5, 0.5, 0.5, 0.5], 40)).toEqual(wilsonInterval(0.5, 40));
    expect(shareInterval([1, 1, 1], 30)).toEqual(wilsonInterval(1, 3));
    expect(round(shareInterval([0.25, 0.75, 0.25, 0.75], 40))).toEqual(round(wilsonInterval(0.5, 16)));
    expect(shareInterval([], 0)).toBeNull();
  });

  test("the bootstrap's comes near the normal one, draws clusters, and is always the same", () => {
    const values = Array.from({ length: 400 }, (_, i) => ({ sum: i % 10, count: 1 }));
    const [low, high] = bootstrapInterval(values) as [number, number];
    const error = 1.96 * Math.sqrt(8.25 / 400);
    expect([Math.abs(low - (4.5 - error)) < 0.05, Math.abs(high - (4.5 + error)) < 0.05]).toEqual([true, true]);
    expect(bootstrapInterval(values)).toEqual([low, high]);
    // The same episodes as ten clusters of forty equal ones: far less is known.
    const [wideLow, wideHigh] = bootstrapInterval(
      Array.from({ length: 10 }, (_, i) => ({ sum: 40 * i, count: 40 })),
    ) as [number, number];
    expect(wideHigh - wideLow).toBeGreaterThan(4 * (high - low));
    expect(
      bootstrapInterval([
        { sum: 1, count: 1 },
        { sum: 0, count: 0 },
      ]),
    ).toBeNull();
  });
});

describe("pass@k", () => {
  test("is the chance that k of n samples, drawn without replacement, hold one that solves the task", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(8), fc.integer({ min: 1, max: 8 }), (n, wanted, k) => {
        fc.pre(k <= n);
        const c = Math.min(wanted, n);
        let [hits, subsets] = [0, 0];
        for (let bits = 0; bits < 2 ** n; bits++) {
          const chosen = Array.from({ length: n }, (_, i) => (bits >> i) & 1);
          if (chosen.reduce((sum, bit) => sum + bit, 0) !== k) continue;
          subsets++;
          if (chosen.slice(0, c).includes(1)) hits++;
        }
        expect(passAtK(n, c, k)).toBeCloseTo(hits / subsets, 10);
      }),
    );
  });

  test("omits tasks with too few samples, and reports how many remain", () => {
    const found = passAtKs([
      { cluster: "a", samples: 6, solved: 3 },
      { cluster: "b", samples: 6, solved: 0 },
      { cluster: "c", samples: 1, solved: 1 },
    ]);
    expect(found.map(({ k, value, tasks }) => [k, Number(value.toFixed(3)), tasks])).toEqual([
      [1, 0.5, 3],
      [2, 0.4, 2],
      [4, 0.5, 2],
      [6, 0.5, 2],
    ]);
    expect(passAtKs([{ cluster: "a", samples: 1, solved: 1 }])).toEqual([]);
  });
});

describe("a summary of episodes", () => {
  const episode = (task: string, total: Reward, error?: Trajectory["error"]): Trajectory => ({
    id: task,
    environment: "e@1",
    task,
    seed: null,
    group: task,
    member: 0,
    turns: [],
    seconds: { sampling: 0, environment: 0 },
    agents: {
      agent: {
        role: "agent",
        player: { kind: "policy", name: "policy", policy: "policy" },
        segments: [],
        total,
        end: { terminated: true, truncated: false },
      },
    },
    ...(error === undefined ? {} : { error }),
  });

  test("usage of tools is a mean over the episodes that did not fail", () => {
    const usage = { calls: 2, errors: 1, truncated: 0, seconds: 0.5 };
    const used = { ...episode("a", score(1)), info: { tools: { calculator: usage } } };
    const failed = { ...used, error: { code: "X", message: "" } };
    expect(summariseEpisodes([used, episode("b", score(1)), failed]).tools).toEqual({
      calculator: { calls: 1, errors: 0.5, truncated: 0, seconds: 0.25 },
    });
    expect(summariseEpisodes([episode("b", score(1))])).not.toHaveProperty("tools");
  });

  test("undecided answers are a share of the policy's answers that scorers graded", () => {
    const grade = (verdict: string, agent = "agent"): JsonValue => ({
      ...{ scorer: "math@2", step: 0, agent, verdict, reason: "r", reward: { scored: true, value: 0, components: {} } },
    });
    const graded = (...judgements: JsonValue[]) => ({ ...episode("a", score(0)), info: { judgements } });
    const failed = { ...graded(grade("undecided")), error: { code: "X", message: "" } };
    const played = [
      graded(grade("undecided"), grade("different")),
      graded(grade("equivalent"), grade("undecided", "b")),
    ];
    expect(summariseEpisodes([...played, failed]).undecided).toBeCloseTo(1 / 3);
    expect(summariseEpisodes([episode("b", score(1))])).not.toHaveProperty("undecided");
  });

  test("failed and unscored episodes are counted and are no zeros", () => {
    const summary = summariseEpisodes([
      episode("a", score(0.9, { correct: 1, format: 0.5 })),
      episode("a", score(0.1, { correct: 0, format: 0.5 })),
      episode("b", score(0.9, { correct: 1 })),
      episode("b", unscored("SCORER_FAILED", "gone")),
      episode("c", score(0), { code: "ENVIRONMENT_FAILED", message: "gone" }),
    ]);
    expect(summary).toMatchObject({
      episodes: 5,
      scored: 3,
      unscored: 1,
      failed: 1,
      components: { correct: 2 / 3, format: 0.5 },
      accuracy: 2 / 3,
    });
    expect(summary.reward).toBeCloseTo(1.9 / 3);
    expect(summary.passAtK.map(({ k, value, tasks }) => [k, value, tasks])).toEqual([
      [1, 0.75, 2],
      [2, 1, 1],
    ]);
    expect(summary.intervals.accuracy).toEqual(shareInterval([0.5, 1], 3));
    expect([summary.firstError, summary.firstUnscored]).toEqual(["ENVIRONMENT_FAILED: gone", "SCORER_FAILED: gone"]);
  });

  test("U1: the share of answers that max_tokens cut is over turns, and is apart from episodes that a limit ended", () => {
    const turn = (stopReason: StopReason): TurnRecord => ({
      agent: "agent",
      messages: [],
      response: { role: "assistant", parts: [] },
      tokens: { segment: 0, start: 0, end: 1 },
      stopReason,
      rewards: {},
    });
    const played = { ...episode("a", score(0)), turns: [turn("length"), turn("stop"), turn("length")] };
    expect(summariseEpisodes([played, { ...played, turns: [turn("length")] }])).toMatchObject({
      cut: 0.75,
      truncated: 0,
    });
    expect(summariseEpisodes([{ ...played, error: { code: "X", message: "" } }]).cut).toBeNull();
  });

  test("D7: tasks in which the policy read the same are one for the intervals", () => {
    const reads = (task: string, value: number, texts: string[], answer = "5"): Trajectory => ({
      ...episode(task, score(value)),
      turns: texts.map((text) => ({
        agent: "agent",
        messages: [{ role: "user", parts: [{ type: "text", text }] }],
        response: { role: "assistant", parts: [{ type: "text", text: answer }] },
        stopReason: "stop",
        rewards: {},
      })),
    });
    const [a, b, c] = [reads("a", 1, ["2 + 3"]), reads("b", 1, ["2 + 3"]), reads("c", 0, ["2 + 3", "no"], "4")];
    const d = reads("d", 0, ["4 + 1"]);
    const repeated = summariseEpisodes([a, b, c, d]);
    expect(repeated).toMatchObject({ scored: 4, differentTasks: 3, accuracy: 0.5 });
    expect(repeated.intervals.accuracy).toEqual(shareInterval([1, 0, 0], 4));
    // Another sample of `b` shows that it is `c`, in whatever order they come.
    const samples = [a, reads("b", 1, ["2 + 3", "no"]), b, c, d];
    for (const played of [samples, samples.toReversed()])
      expect(summariseEpisodes(played)).toMatchObject({ differentTasks: 2 });
    expect(summariseEpisodes([a, d])).not.toHaveProperty("differentTasks");
    // The same answer earned 1 and 0: what the tasks ask for is hidden.
    expect(summariseEpisodes([a, b, reads("e", 0, ["2 + 3"])])).not.toHaveProperty("differentTasks");
  });

  test("a number has one interval, whatever it is called", () => {
    const summary = summariseEpisodes(
      ["a", "b", "c", "d"].flatMap((task, i) => [
        episode(task, score(i > 0 ? 1 : 0, { correct: i > 0 ? 1 : 0, steps: i / 4 })),
        episode(task, score(1, { correct: 1, steps: 0.5 })),
      ]),
    );
    const { accuracy, reward, components } = summary.intervals;
    expect([reward, components["correct"]]).toEqual([accuracy, accuracy]);
    expect(accuracy).toEqual(shareInterval([0.5, 1, 1, 1], 8));
    expect(components["steps"]).toEqual(bootstrapInterval([0, 1, 2, 3].map((i) => ({ sum: i / 4 + 0.5, count: 2 }))));
  });

  test("without such a component, a reward of 1 solves a task; without episodes there is no result", () => {
    expect(summariseEpisodes([episode("a", score(1)), episode("b", score(0.5))])).toMatchObject({
      accuracy: 0.5,
      components: {},
    });
    expect(summariseEpisodes([])).toMatchObject({
      accuracy: null,
      reward: null,
      intervals: { accuracy: null, reward: null },
    });
  });
});

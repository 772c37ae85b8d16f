import { describe, expect, test } from "@jest/globals";
import { definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, type Judge, type Scorer, type Trajectory, score, unscored } from "@mrlm/spec";
import {
  agreementOf,
  judgeRun,
  type JudgedOutcome,
  LocalHost,
  PluginHost,
  ReplacedGraders,
  scoreRun,
} from "@mrlm/runtime";
import fc from "fast-check";
import { kendallTau } from "../src/judging/rank-correlation.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { collect, runner } from "./support/rollouts.ts";

/** Environment of two sides with two turns each, whose last step asks a judge. */
function talk({ greeting = "go", judge = "first@1" } = {}): EnvironmentDefinition<any> {
  return counterEnvironment({
    roles: { pro: {}, con: {} },
    requires: [`judge:${judge}`],
    create: (context) => {
      let turns: { agent: string; message: ReturnType<typeof textMessage> }[] = [];
      const shown = (agent: string) => ({ agent, messages: [textMessage("user", `${greeting} ${turns.length}`)] });
      return {
        reset: async () => ((turns = []), shown("pro")),
        async step({ agent, message }, { signal }) {
          turns.push({ agent, message });
          const isOver = turns.length === 4;
          const task = { id: "train/0", public: {}, private: {} };
          const { rewards } = isOver
            ? await context.judge(judge).judge({ turns, agents: ["pro", "con"], task }, { signal })
            : { rewards: {} };
          return {
            observation: isOver ? { agent: "", messages: [] } : shown(agent === "pro" ? "con" : "pro"),
            rewards,
            terminated: { pro: isOver, con: isOver },
            truncated: {},
          };
        },
      };
    },
  });
}

/** Judge that scores the length of what an agent wrote, times a sign. */
const byLength = (sign: number): Judge => ({
  judge: async ({ turns, agents }) => {
    const length = (agent: string) =>
      turns.filter((turn) => turn.agent === agent).reduce((sum, { message }) => sum + messageText(message).length, 0);
    const [pro, con] = [length("pro"), length("con")];
    return {
      rewards: Object.fromEntries(agents.map((agent) => [agent, score(sign * length(agent))])),
      verdict: sign * (pro - con) > 0 ? "pro" : pro === con ? "tie" : "con",
      reason: "by length",
    };
  },
});

const hostOf = async (definition: EnvironmentDefinition<any>, judges: Record<string, Judge>, replaced?: Judge) => {
  const factories = Object.fromEntries(Object.entries(judges).map(([id, judge]) => [id, () => judge]));
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [definition], judges: factories })]);
  return new LocalHost({ source: replaced === undefined ? source : new ReplacedGraders(source, { judge: replaced }) });
};

async function played(): Promise<Trajectory[]> {
  const host = await hostOf(talk(), { "first@1": byLength(1) });
  const groups = await collect(await runner({ host }), { tasks: ["train/0", "train/1"], groupSize: 4 });
  return groups.flatMap(({ trajectories }) => trajectories);
}

const again = async (host: LocalHost, trajectories: readonly Trajectory[]): Promise<JudgedOutcome[]> =>
  Array.fromAsync(judgeRun(host, [{ id: "counter" }], trajectories, new AbortController().signal));

describe("stored episodes are judged again", () => {
  test("by the same judge with the same scores, by the opposite one with a rank correlation of -1", async () => {
    const trajectories = await played();
    for (const [sign, tau] of [
      [1, 1],
      [-1, -1],
    ] as const) {
      const outcomes = await again(await hostOf(talk(), {}, byLength(sign)), trajectories);
      const judged = outcomes.flatMap((outcome) => (outcome.kind === "judged" ? [outcome.episode] : []));
      expect(judged.map(({ trajectory }) => trajectory.id)).toEqual(trajectories.map(({ id }) => id));
      const { agents, verdicts, orders } = agreementOf(judged);
      expect(agents.map(({ agent, scored }) => [agent, scored])).toEqual([
        ["con", 8],
        ["pro", 8],
      ]);
      for (const agent of agents) expect(agent.tau).toBeCloseTo(tau, 12);
      const ties = judged.filter(({ verdictBefore }) => verdictBefore === "tie").length;
      expect(verdicts).toEqual({ equal: sign === 1 ? 8 : ties, of: 8 });
      expect(orders).toEqual({ equal: sign === 1 ? 8 : ties, of: 8 });
    }
  });

  test.each<[string, Judge]>([
    ["that fails", { judge: async () => Promise.reject(new Error("no answer")) }],
    [
      "that cannot score",
      {
        judge: async ({ agents }) => ({
          rewards: Object.fromEntries(agents.map((agent) => [agent, unscored("ENDPOINT_UNREACHABLE", "no answer")])),
          verdict: "undecided",
          reason: "no answer",
        }),
      },
    ],
  ])("a judge %s is unscored and counted, and its verdicts are compared with none", async (_, broken) => {
    const trajectories = await played();
    const outcomes = await again(await hostOf(talk(), {}, broken), trajectories);
    const judged = outcomes.flatMap((outcome) => (outcome.kind === "judged" ? [outcome.episode] : []));
    expect(agreementOf(judged)).toEqual({
      agents: ["con", "pro"].map((agent) => ({
        agent,
        scored: 0,
        unscoredBefore: 0,
        unscoredAfter: 8,
        meanBefore: undefined,
        meanAfter: undefined,
        tau: undefined,
      })),
      verdicts: { equal: 0, of: 0 },
      orders: { equal: 0, of: 0 },
    });
  });

  test("only where the environment gives the same observations; failed episodes are left out", async () => {
    const [first, second, ...rest] = await played();
    const failed = { ...(second as Trajectory), error: { code: "ENVIRONMENT_FAILED", message: "gone" } };
    const other = await again(await hostOf(talk({ greeting: "start" }), {}, byLength(1)), [
      first as Trajectory,
      failed,
    ]);
    expect(other).toMatchObject([
      { kind: "lost", error: { code: "ENVIRONMENT_FAILED", message: expect.stringMatching(/from step 0 on/) } },
      { kind: "failed" },
    ]);
    const cut = rest.map((trajectory) => ({ ...trajectory, turns: trajectory.turns.slice(0, 2) }));
    const unjudged = await again(await hostOf(talk(), {}, byLength(1)), cut);
    expect(unjudged.map(({ kind }) => kind)).toEqual(cut.map(() => "unjudged"));
    const unknown = { ...(first as Trajectory), environment: "other@1" };
    expect(await again(await hostOf(talk(), {}, byLength(1)), [unknown])).toMatchObject([
      { kind: "lost", error: { code: "ENVIRONMENT_NOT_FOUND" } },
    ]);
  });
});

test("an environment that cannot be described loses no episode of another one", async () => {
  const host = await hostOf(talk(), {}, byLength(1));
  const environments = [{ id: "gone@1" }, { id: "counter" }];
  const outcomes = await Array.fromAsync(judgeRun(host, environments, await played(), new AbortController().signal));
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill("judged"));
});

describe("D21: stored episodes are scored again by their environments", () => {
  const scored = async (definition: EnvironmentDefinition<any>, trajectories: readonly Trajectory[]) => {
    const host = await hostOf(definition, { "first@1": byLength(1) });
    return Array.fromAsync(scoreRun(host, [{ id: "counter" }], trajectories, new AbortController().signal));
  };

  test("with the stored rewards where nothing changed, and others where the environment earns others", async () => {
    const host = await hostOf(counterEnvironment(), {});
    const groups = await collect(await runner({ host }), { tasks: ["train/0"], groupSize: 3 });
    const trajectories = groups.flatMap((group) => group.trajectories);
    // The second environment of one id in an evaluation has a number behind its id.
    const twins = trajectories.map((trajectory) => ({ ...trajectory, environment: "counter@1#2" }));
    for (const outcome of await scored(counterEnvironment(), [...trajectories, ...twins]))
      expect(outcome).toMatchObject({
        kind: "judged",
        episode: { before: { agent: score(1, { count: 3 }) }, after: { agent: score(1, { count: 3 }) } },
      });
    const { create } = counterEnvironment();
    const generous = counterEnvironment({
      create: async (context, options) => {
        const instance = await create(context, options);
        return {
          reset: (given) => instance.reset(given),
          step: async (...given) => ({ ...(await instance.step(...given)), rewards: { agent: score(2) } }),
        };
      },
    });
    for (const outcome of await scored(generous, trajectories))
      expect(outcome).toMatchObject({ kind: "judged", episode: { after: { agent: score(4) } } });
  });

  test("by another scorer, with options of each request", async () => {
    const scorer = (paid: string): Scorer => ({
      score: async ({ answer, options }) => ({
        reward: score(
          [...answer].filter((letter) => `${paid}${String(options?.["more"] ?? "")}`.includes(letter)).length,
        ),
        ...{ verdict: "different", reason: "" },
      }),
    });
    const asked = counterEnvironment({
      requires: ["scorer:first@1"],
      create: (context) => ({
        reset: async () => observe([textMessage("user", "go")]),
        async step({ message }, { signal }) {
          const request = { answer: messageText(message), expected: "a", options: { more: "", kept: 1 }, signal };
          return singleStep({ reward: (await context.scorer("first").score(request)).reward, terminated: true });
        },
      }),
    });
    const plugin = definePlugin({ name: "test", environments: [asked], scorers: { "first@1": () => scorer("ab") } });
    const source = await PluginHost.of([plugin]);
    const groups = await collect(await runner({ host: new LocalHost({ source }) }), { tasks: ["train/0"] });
    const trajectories = groups.flatMap((group) => group.trajectories);
    for (const [replaced, paid] of [
      [new ReplacedGraders(source, { scorer: scorer("a") }), "a"],
      [new ReplacedGraders(source, { scorer: scorer("a") }, { more: "c" }), "ac"],
    ] as const) {
      const host = new LocalHost({ source: replaced });
      const signal = new AbortController().signal;
      const outcomes = await Array.fromAsync(scoreRun(host, [{ id: "counter" }], trajectories, signal));
      const count = ({ turns }: Trajectory): number =>
        [...messageText((turns[0] as (typeof turns)[0]).response)].filter((letter) => paid.includes(letter)).length;
      expect(outcomes.map((each) => each.kind === "judged" && each.episode.after["agent"])).toEqual(
        trajectories.map((trajectory) => score(count(trajectory))),
      );
      expect([...replaced.replaced]).toEqual(["first@1"]);
    }
  });

  test("R26: not where what scores them fails now: that is no other reward", async () => {
    const groups = await collect(await runner({ host: await hostOf(counterEnvironment(), {}) }), { groupSize: 1 });
    const trajectories = groups.flatMap((group) => group.trajectories);
    const { create } = counterEnvironment();
    const broken = counterEnvironment({
      create: async (context, options) => {
        const instance = await create(context, options);
        return {
          reset: (given) => instance.reset(given),
          step: async (...given) => ({
            ...(await instance.step(...given)),
            rewards: { agent: unscored("SANDBOX_FAILED", "no sandbox") },
          }),
        };
      },
    });
    for (const outcome of await scored(broken, trajectories))
      expect(outcome).toMatchObject({
        kind: "lost",
        error: { code: "SANDBOX_FAILED", message: expect.stringContaining("no sandbox") },
      });
  });

  test("not where an environment promises no determinism", async () => {
    const trajectories = await played();
    const outcomes = await scored({ ...talk(), determinism: "none" }, trajectories.slice(0, 1));
    expect(outcomes).toMatchObject([
      { kind: "lost", error: { code: "USAGE", message: expect.stringContaining("promises no determinism") } },
    ]);
  });
});

test("an agent that was unscored once is no part of means and correlations", () => {
  const failed = unscored("SCORER_FAILED", "gone");
  const verdictBefore = "pro";
  const { agents, verdicts } = agreementOf([
    { before: { pro: failed }, after: { pro: score(1) }, verdictBefore: "failed", verdictAfter: "pro" },
    { before: { pro: score(1) }, after: { pro: score(3) }, verdictBefore, verdictAfter: "pro" },
    { before: { pro: score(2) }, after: { pro: score(2) }, verdictBefore, verdictAfter: "con" },
  ]);
  expect(agents).toEqual([
    { agent: "pro", scored: 2, unscoredBefore: 1, unscoredAfter: 0, meanBefore: 1.5, meanAfter: 2.5, tau: -1 },
  ]);
  expect(verdicts).toEqual({ equal: 1, of: 2 });
});

describe("Kendall's tau-b", () => {
  /** The definition, over all pairs. */
  function byDefinition(pairs: readonly (readonly [number, number])[]): number | undefined {
    let [difference, x, y] = [0, 0, 0];
    for (const [i, [a, b]] of pairs.entries())
      for (const [c, d] of pairs.slice(i + 1)) {
        difference += Math.sign(a - c) * Math.sign(b - d);
        x += Number(a !== c);
        y += Number(b !== d);
      }
    return x * y === 0 ? undefined : difference / Math.sqrt(x * y);
  }

  test("equals its definition, with ties", () => {
    const value = fc.constantFrom(-0, 0, 0.5, 1, 2, 3);
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 40 }), (pairs) => {
        const expected = byDefinition(pairs);
        if (expected === undefined) expect(kendallTau(pairs)).toBeUndefined();
        else expect(kendallTau(pairs)).toBeCloseTo(expected, 12);
      }),
      { numRuns: 300 },
    );
  });

  test("of a worked example with a tie", () => {
    // Two of three pairs agree; one is tied on one side: 2 / sqrt(2 * 3).
    expect(
      kendallTau([
        [1, 1],
        [2, 2],
        [2, 3],
      ]),
    ).toBeCloseTo(2 / Math.sqrt(6), 12);
  });
});

import { describe, expect, test } from "@jest/globals";
import { definePlugin, observe, textMessage } from "@mrlm/kit";
import { judgementsOf } from "@mrlm/kit/learning";
import {
  type EnvironmentDefinition,
  type Judge,
  type Judgement,
  score,
  type Scorer,
  type StepResult,
  unscored,
} from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { overGrpc } from "@mrlm/testing";
import { counterEnvironment, never } from "./support/counter-environment.ts";
import { collect, runner } from "./support/rollouts.ts";

const verdict: Judgement = { rewards: { pro: score(1), con: score(-1) }, verdict: "pro", reason: "better" };

/** Environment in which `pro` and `con` write in turn; `judged` asks the judge after a step. */
function duel({ turns = 2, judged = (step: number) => step === turns - 1, deadlines = {} } = {}) {
  return counterEnvironment({
    roles: { pro: {}, con: {} },
    requires: ["judge:test@1", "scorer:test@1"],
    deadlines,
    create: (context) => {
      let step = 0;
      const shown = (agent: string) => ({ agent, messages: [textMessage("user", "go")] });
      return {
        reset: async () => ((step = 0), shown("pro")),
        async step(_action, { signal }): Promise<StepResult> {
          const at = step++;
          const isOver = step === turns;
          const task = { id: "train/0", public: {}, private: {} };
          const { rewards } = judged(at)
            ? await context.judge("test").judge({ turns: [], agents: ["pro", "con"], task }, { signal })
            : { rewards: {} };
          return {
            observation: isOver ? { agent: "", messages: [] } : shown(step % 2 === 0 ? "pro" : "con"),
            rewards,
            terminated: { pro: isOver, con: isOver },
            truncated: {},
          };
        },
      };
    },
  });
}

async function hostOf(
  definition: EnvironmentDefinition<any>,
  { judge = { judge: async () => verdict }, scorer = { score: hang } }: { judge?: Judge; scorer?: Scorer } = {},
): Promise<LocalHost> {
  const plugin = definePlugin({
    name: "test",
    environments: [definition],
    judges: { "test@1": () => judge },
    scorers: { "test@1": () => scorer },
  });
  return new LocalHost({ source: await PluginHost.of([plugin]) });
}

const hang = () => new Promise<never>(() => undefined);
const act = (agent: string) => ({ agent, message: textMessage("assistant", "x"), finishReason: "stop" as const });

/** Plays one judged step against a judge. */
async function judgedBy(judge: Judge, deadlines: { scoreMs?: number; stepMs?: number } = {}): Promise<StepResult> {
  const session = await (await hostOf(duel({ turns: 1, deadlines }), { judge })).open({ id: "counter" });
  await session.reset({ signal: never });
  return session.step(act("pro"), { signal: never });
}

const bothUnscored = (code: string, message: RegExp) => ({
  pro: { scored: false, code, message: expect.stringMatching(message) },
  con: { scored: false, code, message: expect.stringMatching(message) },
});

describe("a judge", () => {
  test.each<[string, unknown, RegExp]>([
    ["misses an agent", { ...verdict, rewards: { pro: score(1) } }, /no reward for the agent "con"/],
    ["rewards another agent", { ...verdict, rewards: { ...verdict.rewards, ref: score(0) } }, /reward for "ref"/],
    ["returns rewards alone", verdict.rewards, /rewards: .*verdict: /],
    ["returns a number as reward", { ...verdict, rewards: { pro: 1, con: 0 } }, /rewards\.pro/],
    ["returns a reward that is not finite", { ...verdict, rewards: { pro: score(NaN), con: score(0) } }, /finite/],
    ["returns a detail that is not JSON", { ...verdict, detail: { at: () => 1 } }, /detail: must be a JSON object/],
    ["returns nothing", undefined, /malformed judgement/],
  ])("that %s gives unscored for every agent, and the step is recorded", async (_name, returned, message) => {
    const { rewards, info } = await judgedBy({ judge: async () => returned as Judgement });
    const expected = bothUnscored("SCORER_FAILED", message);
    expect(rewards).toEqual(expected);
    expect(info).toEqual({
      judgements: [
        { judge: "test@1", step: 0, rewards: expected, verdict: "failed", reason: expect.stringMatching(message) },
      ],
    });
  });

  test.each<[string, () => Promise<Judgement>]>([
    ["rejects", async () => Promise.reject(new Error("no answer"))],
    [
      "throws at once",
      () => {
        throw new Error("no answer");
      },
    ],
  ])("that %s gives unscored for every agent", async (_name, judge) => {
    expect((await judgedBy({ judge })).rewards).toEqual(
      bothUnscored("SCORER_FAILED", /Judge test@1 failed: no answer/),
    );
  });

  test("is aborted at the deadline of scoring, and its later judgement is ignored", async () => {
    const late = Promise.withResolvers<Judgement>();
    let reason: unknown;
    const judge: Judge = {
      judge: (_request, { signal }) => {
        signal.addEventListener("abort", () => (reason = signal.reason));
        return late.promise;
      },
    };
    const { rewards, info } = await judgedBy(judge, { scoreMs: 20, stepMs: 10 });
    late.resolve(verdict);
    expect(reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(rewards).toEqual(bothUnscored("DEADLINE_EXCEEDED", /longer than 20 ms/));
    expect(info?.["judgements"]).toHaveLength(1);
  });

  test("is aborted when the episode is given up or its session closes", async () => {
    for (const end of ["cancel", "close"]) {
      const called = Promise.withResolvers<AbortSignal>();
      const judge: Judge = { judge: (_request, { signal }) => (called.resolve(signal), hang()) };
      const session = await (await hostOf(duel({ turns: 1 }), { judge })).open({ id: "counter" });
      await session.reset({ signal: never });
      const controller = new AbortController();
      const step = session.step(act("pro"), { signal: controller.signal }).catch(() => undefined);
      const signal = await called.promise;
      expect(signal.aborted).toBe(false);
      if (end === "cancel") controller.abort();
      else await session.close();
      await step;
      expect(signal.aborted).toBe(true);
      await session.close();
    }
  });

  test("waits for a place without limit: the deadline of scoring counts the rest", async () => {
    const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const judge: Judge = {
      async judge(_request, { queued }) {
        await Promise.all([queued!(() => wait(80)), queued!(() => wait(100))]);
        return verdict;
      },
    };
    expect((await judgedBy(judge, { scoreMs: 40, stepMs: 40 })).rewards).toEqual(verdict.rewards);
    const slow: Judge = { judge: async (request, options) => (await judge.judge(request, options), await hang()) };
    expect((await judgedBy(slow, { scoreMs: 40 })).rewards["pro"]).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("receives no signal that its deadline or its caller aborts after it has answered", async () => {
    const signals: AbortSignal[] = [];
    const judge: Judge = { judge: async (_request, { signal }) => (signals.push(signal), verdict) };
    await judgedBy(judge);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

test("a scorer always gets a signal, which its deadline aborts, and a malformed grade is unscored", async () => {
  const signals: AbortSignal[] = [];
  const grades: Scorer[] = [
    { score: ({ signal }) => (signals.push(signal as AbortSignal), hang()) },
    { score: async () => ({ reward: 1 }) as never },
  ];
  for (const [scorer, code] of [
    [grades[0], "DEADLINE_EXCEEDED"],
    [grades[1], "SCORER_FAILED"],
  ] as const) {
    const definition = counterEnvironment({
      tasks: undefined,
      requires: ["scorer:test@1"],
      deadlines: { scoreMs: 20 },
      create: (context) => ({
        reset: async () => observe([]),
        step: async () => ({
          observation: observe([]),
          rewards: { agent: (await context.scorer("test").score({ answer: "", expected: "" })).reward },
          terminated: { agent: true },
          truncated: {},
        }),
      }),
    });
    const session = await (await hostOf(definition, { scorer: scorer as Scorer })).open({ id: "counter" });
    await session.reset({ signal: never });
    const { rewards } = await session.step(act("agent"), { signal: never });
    expect(rewards).toMatchObject({ agent: { scored: false, code } });
  }
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

describe("a trajectory", () => {
  const detailed = { ...verdict, detail: { scores: [0.25] } };
  const transports: Record<string, (host: EnvironmentHost) => Promise<EnvironmentHost>> = {
    "in process": async (host) => host,
    "over gRPC": overGrpc(),
  };
  test.each(Object.keys(transports))("has the judgements of all steps, %s", async (name) => {
    const local = await hostOf(duel({ turns: 4, judged: (step) => step !== 1 }), {
      judge: { judge: async () => detailed },
    });
    const host = (await transports[name]?.(local)) as EnvironmentHost;
    try {
      const request = { tasks: ["train/0"], groupSize: 1, sampling: { temperature: 1, maxTokens: 2 } };
      const [group] = await collect(await runner({ host }), request);
      const [trajectory] = group?.trajectories ?? [];
      expect(trajectory?.error).toBeUndefined();
      expect(judgementsOf({ info: trajectory?.info ?? {} })).toEqual(
        [0, 2, 3].map((step) => ({ judge: "test@1", step, ...detailed })),
      );
      expect(trajectory?.agents["con"]?.total).toEqual(score(-3));
    } finally {
      await host.close();
    }
  });

  test("has the judgements in the order of the calls, and none of an earlier episode", async () => {
    const answers: ((judgement: Judgement) => void)[] = [];
    const definition = counterEnvironment({
      tasks: undefined,
      roles: { pro: {}, con: {} },
      requires: ["judge:test@1"],
      create: (context) => ({
        reset: async () => ({ agent: "pro", messages: [textMessage("user", "go")] }),
        async step(_action, options) {
          const request = { turns: [], agents: ["pro", "con"], task: { id: "train/0", public: {}, private: {} } };
          const calls = [1, 2].map(() => context.judge("test").judge(request, options));
          for (const [i, answer] of [...answers.splice(0).entries()].toReversed())
            answer({ ...verdict, reason: String(i) });
          await Promise.all(calls);
          return {
            observation: { agent: "", messages: [] },
            rewards: {},
            terminated: { pro: true, con: true },
            truncated: {},
          };
        },
      }),
    });
    const judge: Judge = { judge: () => new Promise((resolve) => answers.push(resolve)) };
    const session = await (await hostOf(definition, { judge })).open({ id: "counter" });
    for (let episode = 0; episode < 2; episode++) {
      await session.reset({ signal: never });
      const { info } = await session.step(act("pro"), { signal: never });
      expect(info?.["judgements"]).toMatchObject([{ reason: "0" }, { reason: "1" }]);
    }
  });
});

test.each(["judge", "scorer"] as const)("an environment is at most as deterministic as its %s", async (kind) => {
  const host = await hostOf(duel(), {
    judge: { determinism: kind === "judge" ? "replayable" : "full", judge: async () => verdict },
    scorer: {
      determinism: kind === "scorer" ? "replayable" : "full",
      score: async () => ({ reward: unscored("A", ""), verdict: "", reason: "" }),
    },
  });
  expect((await host.describe({ id: "counter" })).determinism).toBe("replayable");
});

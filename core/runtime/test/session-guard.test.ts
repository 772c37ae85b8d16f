import { describe, expect, test } from "@jest/globals";
import { definePlugin, observe, singleStep, toolset, textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import {
  type EnvironmentDefinition,
  type Logger,
  MrlmError,
  score,
  type SimulatedEnvironment,
  type Tool,
  type ToolCallOptions,
} from "@mrlm/spec";
import fc from "fast-check";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { counterEnvironment, never, messageOf } from "./support/counter-environment.ts";

async function hostOf(definition: EnvironmentDefinition<any>, logger: Logger = silentLogger): Promise<LocalHost> {
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [definition] })]);
  return new LocalHost({ source, logger });
}

async function sessionOf(
  environment: Partial<SimulatedEnvironment>,
  overrides: Partial<EnvironmentDefinition<any>> = {},
) {
  const whole: SimulatedEnvironment = {
    reset: async () => observe([]),
    step: async () => singleStep({}),
    ...environment,
  };
  const host = await hostOf(counterEnvironment({ tasks: undefined, create: () => whole, ...overrides }));
  return host.open({ id: "counter" });
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "fulfilled",
    (error: MrlmError) => error.code,
  );
const reset = { task: "train/0", seed: 5, signal: never };

describe("order", () => {
  test("a step before any reset and a step after the end are EPISODE_ENDED", async () => {
    const session = await (await hostOf(counterEnvironment())).open({ id: "counter@1" });
    expect(await codeOf(session.step(messageOf("x"), { signal: never }))).toBe("EPISODE_ENDED");
    await session.reset(reset);
    await session.step(messageOf("x"), { signal: never });
    const last = await session.step(messageOf("x"), { signal: never });
    expect(last).toMatchObject({
      terminated: { agent: true },
      truncated: { agent: false },
      observation: { agent: "" },
    });
    expect(await codeOf(session.step(messageOf("x"), { signal: never }))).toBe("EPISODE_ENDED");
    await session.reset(reset);
    expect((await session.step(messageOf("x"), { signal: never })).terminated).toEqual({ agent: false });
  });

  test("a call during another is SESSION_BUSY and harms neither", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const session = await sessionOf({ step: async () => promise.then(() => singleStep({})) });
    await session.reset({ signal: never });
    const first = session.step(messageOf("x"), { signal: never });
    expect(await codeOf(session.step(messageOf("x"), { signal: never }))).toBe("SESSION_BUSY");
    expect(await codeOf(session.reset({ signal: never }))).toBe("SESSION_BUSY");
    resolve();
    expect((await first).terminated).toEqual({ agent: false });
  });

  test("acting out of turn or in another role is refused, and the episode continues", async () => {
    const session = await sessionOf({});
    await session.reset({ signal: never });
    expect(await codeOf(session.step(messageOf("x", "other"), { signal: never }))).toBe("STEP_OUT_OF_ORDER");
    expect(
      await codeOf(session.step({ ...messageOf("x"), message: textMessage("user", "x") }, { signal: never })),
    ).toBe("OPTIONS_INVALID");
    expect((await session.step(messageOf("x"), { signal: never })).observation.agent).toBe("agent");
  });

  test("any sequence of calls: a step works exactly when an episode is under way", async () => {
    const host = await hostOf(counterEnvironment());
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.constantFrom("reset", "step", "close"), { maxLength: 12 }),
        async (goal, calls) => {
          const session = await host.open({ id: "counter", options: { goal } });
          let left = 0;
          let isClosed = false;
          for (const call of calls) {
            const outcome = await codeOf(
              call === "reset"
                ? session.reset(reset)
                : call === "step"
                  ? session.step(messageOf("x"), { signal: never })
                  : session.close(),
            );
            if (call === "close") isClosed = true;
            else if (isClosed) expect(outcome).toBe("SESSION_NOT_FOUND");
            else if (call === "reset") left = goal;
            else expect(outcome).toBe(left-- > 0 ? "fulfilled" : "EPISODE_ENDED");
            if (left < 0) left = 0;
          }
          await session.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("limits", () => {
  test("the turn limit truncates and does not terminate", async () => {
    const session = await sessionOf({}, { maxTurns: 2 });
    await session.reset({ signal: never });
    expect((await session.step(messageOf("x"), { signal: never })).truncated).toEqual({ agent: false });
    expect(await session.step(messageOf("x"), { signal: never })).toMatchObject({
      terminated: { agent: false },
      truncated: { agent: true },
      observation: { agent: "" },
    });
    expect(await codeOf(session.step(messageOf("x"), { signal: never }))).toBe("EPISODE_ENDED");
  });

  test("a deadline aborts the author's signal, names phase and environment, and the next reset gets a fresh instance", async () => {
    let made = 0;
    let aborted = false;
    const create = (): SimulatedEnvironment => ({
      reset: async () => (made++, observe([])),
      step: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => ((aborted = true), reject(new Error("late")))),
        ),
    });
    const session = await sessionOf({}, { create, deadlines: { stepMs: 20 } });
    await session.reset({ signal: never });
    const error = await session.step(messageOf("x"), { signal: never }).catch((reason: MrlmError) => reason);
    expect(error).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: expect.stringMatching(/counter@1.*20 ms.*step/),
    });
    expect(aborted).toBe(true);
    expect(await codeOf(session.step(messageOf("x"), { signal: never }))).toBe("EPISODE_ENDED");
    await session.reset({ signal: never });
    expect(made).toBe(2);
  });

  test("time spent grading does not count against the step's deadline", async () => {
    const slow = {
      score: () =>
        new Promise<never>((resolve) =>
          setTimeout(() => resolve({ reward: score(1), verdict: "equivalent", reason: "" } as never), 60),
        ),
    };
    const definition = counterEnvironment({
      tasks: undefined,
      requires: ["scorer:slow@1"],
      deadlines: { stepMs: 40, scoreMs: 5_000 },
      create: (context): SimulatedEnvironment => ({
        reset: async () => observe([]),
        step: async () =>
          singleStep({
            reward: (await context.scorer("slow").score({ answer: "", expected: "" })).reward,
            terminated: true,
          }),
      }),
    });
    const source = await PluginHost.of([
      definePlugin({ name: "test", environments: [definition], scorers: { "slow@1": () => slow } }),
    ]);
    const session = await new LocalHost({ source }).open({ id: "counter" });
    await session.reset({ signal: never });
    expect((await session.step(messageOf("x"), { signal: never })).rewards).toEqual({ agent: score(1) });
  });

  test("a caller that gives up gets CANCELLED; closing during a step ends it", async () => {
    const hang = () => new Promise<never>(() => undefined);
    const session = await sessionOf({ step: hang });
    await session.reset({ signal: never });
    const controller = new AbortController();
    const step = session.step(messageOf("x"), { signal: controller.signal });
    controller.abort();
    expect(await codeOf(step)).toBe("CANCELLED");
    await session.reset({ signal: never });
    const second = codeOf(session.step(messageOf("x"), { signal: never }));
    await session.close();
    expect(await second).toBe("SESSION_NOT_FOUND");
  });
});

describe("what an author returned", () => {
  const bad: Record<string, unknown> = {
    "an unknown agent": { ...singleStep({}), rewards: { stranger: score(1) } },
    "a reward that is not finite": singleStep({ reward: score(Number.NaN) }),
    "D18: a reward whose square is not finite": singleStep({ reward: score(-1e155) }),
    "D18: a component whose square is not finite": singleStep({ reward: score(1, { x: 1e308 }) }),
    "a component that is not finite": singleStep({ reward: score(1, { x: Infinity }) }),
    "a bare number as reward": { ...singleStep({}), rewards: { agent: 1 } },
    "a flag that is no boolean": { ...singleStep({}), terminated: { agent: 1 } },
    "no agent on turn in mid-episode": { ...singleStep({}), observation: { agent: "", messages: [] } },
    "a message without parts": {
      ...singleStep({}),
      observation: { agent: "agent", messages: [{ role: "user", text: "x" }] },
    },
    "info that is not JSON": { ...singleStep({}), info: { at: () => 1 } },
    "info with 50,000 nested lists": {
      ...singleStep({}),
      info: { at: JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) },
    },
    nothing: undefined,
  };
  test.each(Object.keys(bad))("%s becomes ENVIRONMENT_FAILED and names the environment and the call", async (name) => {
    const session = await sessionOf({ step: async () => bad[name] as never });
    await session.reset({ signal: never });
    await expect(session.step(messageOf("x"), { signal: never })).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(/counter@1.*step/),
    });
  });

  test.each(["CANCELLED", "ENGINE_EXITED", "RESOURCE_EXHAUSTED", "SERVER_UNAVAILABLE", "SESSION_NOT_FOUND"] as const)(
    "an author's %s is ENVIRONMENT_FAILED: it must not end the run",
    async (code) => {
      const session = await sessionOf({ step: () => Promise.reject(new MrlmError(code, "my own")) });
      await session.reset({ signal: never });
      await expect(session.step(messageOf("x"), { signal: never })).rejects.toMatchObject({
        code: "ENVIRONMENT_FAILED",
        message: expect.stringContaining(`${code}: my own`),
      });
    },
  );

  test.each(["mean", "std"])(
    "a reward component called %s, which would hide a metric of the whole reward, is refused",
    async (name) => {
      const session = await sessionOf({ step: async () => singleStep({ reward: score(1, { [name]: 1 }) }) });
      await session.reset({ signal: never });
      await expect(session.step(messageOf("x"), { signal: never })).rejects.toMatchObject({
        code: "ENVIRONMENT_FAILED",
        message: expect.stringMatching(/components: .*name the component otherwise/),
      });
    },
  );

  test("an error about an invalid value names the helper that creates a valid one", async () => {
    const session = await sessionOf({ step: async () => [1] as never });
    await session.reset({ signal: never });
    await expect(session.step(messageOf("x"), { signal: never })).rejects.toThrow(
      "from step: expected object, received array; singleStep({ messages, reward: score(1), terminated: true }) of @mrlm/kit makes one.",
    );
  });

  test("an exception becomes ENVIRONMENT_FAILED with its cause; the host's own errors keep their code", async () => {
    const cause = new TypeError("x is not a function");
    const session = await sessionOf({ reset: async () => Promise.reject(cause) });
    await expect(session.reset({ signal: never })).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      cause,
      message: expect.stringMatching(
        /threw in reset: TypeError: x is not a function \(session-guard\.test\.ts:\d+:\d+\)$/,
      ),
    });
    const undeclared = await sessionOf(
      {},
      {
        create: (context) => (
          context.scorer("math@2"),
          { reset: async () => observe([]), step: async () => singleStep({}) }
        ),
      },
    );
    expect(await codeOf(undeclared.reset({ signal: never }))).toBe("REQUIREMENT_UNDECLARED");
  });

  test("is stripped of what the contract does not know, and every agent has its flags", async () => {
    const session = await sessionOf({
      reset: async () => ({ ...observe([]), secret: 42, info: undefined }) as never,
      step: async () => ({ observation: observe([]), rewards: {}, terminated: {}, truncated: {} }),
    });
    expect(await session.reset({ signal: never })).toEqual({ agent: "agent", messages: [] });
    expect(await session.step(messageOf("x"), { signal: never })).toEqual({
      observation: observe([]),
      rewards: {},
      terminated: { agent: false },
      truncated: { agent: false },
    });
  });
});

const callFirst = ({ tools }: { readonly tools: readonly Tool[] }, options: ToolCallOptions) =>
  tools[0]?.call({}, options);

describe("numerics 54: what could not be scored is unscored, never 0", () => {
  const brokenTool = {
    name: "calculator",
    description: "",
    parameters: {},
    call: () => Promise.reject(new Error("exploded")),
  };
  const brokenScorer = { score: () => Promise.reject(new Error("judge is down")) };

  async function stepWith(create: EnvironmentDefinition["create"]) {
    const definition = counterEnvironment({
      tasks: undefined,
      requires: ["tool:calculator@1", "scorer:math@2"],
      create,
    });
    const source = await PluginHost.of([
      definePlugin({
        name: "test",
        environments: [definition],
        tools: { "calculator@1": () => toolset([brokenTool]) },
        scorers: { "math@2": () => brokenScorer },
      }),
    ]);
    const session = await new LocalHost({ source }).open({ id: "counter" });
    await session.reset({ signal: never });
    return session.step(messageOf("x"), { signal: never });
  }

  test("a scorer that throws answers unscored", async () => {
    const result = await stepWith((context) => ({
      reset: async () => observe([]),
      step: async () =>
        singleStep({
          reward: (await context.scorer("math").score({ answer: "1", expected: "1" })).reward,
          terminated: true,
        }),
    }));
    expect(result.rewards).toEqual({
      agent: { scored: false, code: "SCORER_FAILED", message: expect.stringContaining("judge is down") },
    });
  });

  test("a broken tool ends the episode unscored and truncated", async () => {
    const result = await stepWith((context) => ({
      reset: async () => observe([]),
      step: async (_action, options) => (
        await callFirst(await context.tools("calculator@1").open({ ...options, seed: null }), options),
        singleStep({ reward: score(1) })
      ),
    }));
    expect(result).toMatchObject({
      rewards: { agent: { scored: false, code: "TOOL_FAILED" } },
      terminated: { agent: false },
      truncated: { agent: true },
      observation: { agent: "" },
    });
  });
});

describe("several agents", () => {
  const turns = ["a", "b", "b", ""];
  const pair = (step: number) => ({
    observation: { agent: turns[step] as string, messages: [] },
    rewards: {},
    terminated: { a: step >= 2, b: step >= 3 },
    truncated: {},
  });

  test("each ends on its own; the episode ends with the last", async () => {
    let step = 0;
    const session = await sessionOf(
      { reset: async () => ({ agent: "a", messages: [] }), step: async () => pair(++step) },
      { roles: { a: {}, b: {} } },
    );
    await session.reset({ signal: never });
    expect((await session.step(messageOf("x", "a"), { signal: never })).observation.agent).toBe("b");
    expect((await session.step(messageOf("x", "b"), { signal: never })).terminated).toEqual({ a: true, b: false });
    expect((await session.step(messageOf("x", "b"), { signal: never })).observation.agent).toBe("");
  });

  test("an agent that has ended cannot be on turn", async () => {
    const session = await sessionOf(
      {
        reset: async () => ({ agent: "a", messages: [] }),
        step: async () => ({
          observation: { agent: "a", messages: [] },
          rewards: {},
          terminated: { a: true },
          truncated: {},
        }),
      },
      { roles: { a: {}, b: {} } },
    );
    await session.reset({ signal: never });
    await expect(session.step(messageOf("x", "a"), { signal: never })).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringContaining("already ended"),
    });
  });
});

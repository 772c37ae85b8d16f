import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type EnvironmentDefinition, score, type SimulatedEnvironment, type StepResult } from "@mrlm/spec";
import { counterEnvironment, messageOf, never } from "./support/counter-environment.ts";
import { localHost } from "./support/rollouts.ts";

const roles = { lead: {}, browser: { many: true } };

async function sessionOf(
  environment: Partial<SimulatedEnvironment>,
  overrides: Partial<EnvironmentDefinition<any>> = {},
) {
  const whole = {
    reset: async () => ({ agent: "lead", messages: [] }),
    step: async () => step("lead"),
    ...environment,
  };
  const host = await localHost(counterEnvironment({ tasks: undefined, create: () => whole, roles, ...overrides }));
  return host.open({ id: "counter" });
}

const step = (next: string, changes: Partial<StepResult> = {}): StepResult => ({
  observation: { agent: next, messages: [] },
  rewards: {},
  terminated: {},
  truncated: {},
  ...changes,
});

test("roles that depend on options can use the definition", async () => {
  const definition = {
    rewardRange: [0, 7] as const,
    roles(this: EnvironmentDefinition): Record<string, object> {
      return { [`best${(this.rewardRange as readonly number[])[1]}`]: {} };
    },
  };
  const first = { agent: "best7", messages: [] };
  const session = await sessionOf({ reset: async () => first }, definition);
  expect((await session.reset({ signal: never })).agent).toBe("best7");
});

describe("a role with several agents", () => {
  /** Plays the given results; each action is of the agent on turn. */
  async function results(given: readonly StepResult[], overrides: Partial<EnvironmentDefinition<any>> = {}) {
    const queue = given.values();
    const first = { agent: "lead", messages: [] };
    const session = await sessionOf(
      { reset: async () => first, step: async () => queue.next().value as StepResult },
      overrides,
    );
    let { agent } = await session.reset({ signal: never });
    const seen: StepResult[] = [];
    while (agent !== "") {
      const result = await session.step(messageOf("x", agent), { signal: never });
      seen.push(result);
      agent = result.observation.agent;
    }
    return seen;
  }

  test("an agent exists once an observation, a reward or an end names it", async () => {
    const seen = await results([
      step("browser#2"),
      step("lead", { rewards: { "browser#1": score(1) } }),
      step("lead", { truncated: { "browser#7": true } }),
      step("", { terminated: { lead: true, "browser#1": true, "browser#2": true } }),
    ]);
    expect(seen.map(({ terminated }) => Object.keys(terminated))).toEqual([
      ["lead", "browser#2"],
      ["lead", "browser#2", "browser#1"],
      ["lead", "browser#2", "browser#1", "browser#7"],
      ["lead", "browser#2", "browser#1", "browser#7"],
    ]);
  });

  test("the end of all agents does not end the episode: another one may follow", async () => {
    const seen = await results([
      step("browser#1", { terminated: { lead: true } }),
      step("browser#2", { terminated: { "browser#1": true } }),
      step("", { terminated: { "browser#2": true } }),
    ]);
    expect(seen.map(({ observation }) => observation.agent)).toEqual(["browser#1", "browser#2", ""]);
  });

  test("the limit of turns truncates each agent that exists", async () => {
    const [, last] = await results([step("browser#3", { terminated: { lead: true } }), step("browser#4")], {
      maxTurns: 2,
    });
    expect(last).toMatchObject({
      observation: { agent: "" },
      truncated: { lead: false, "browser#3": true, "browser#4": true },
    });
  });

  test.each([
    [step("browser"), 'observation.agent: "browser" is not an agent: those of role browser are "browser#1"'],
    [step("browser#0"), '"browser#0" is not an agent'],
    [step("lead#1"), '"lead#1" is not an agent: role lead has one agent, "lead"'],
    [step("judge#1"), 'observation.agent: "judge#1" is in none of the environment\'s roles (lead, browser)'],
    [step("lead", { rewards: { judge: score(1) } }), 'rewards: "judge" is in none'],
    [step("lead", { terminated: { "browser#x": true } }), 'terminated: "browser#x" is not an agent'],
    [step("browser#1", { truncated: { "browser#1": true } }), '"browser#1" has already ended'],
    [step("", { terminated: { lead: true }, rewards: { "browser#1": score(1) } }), "browser#1 neither terminated nor"],
  ])("%j is refused", async (given, problem) => {
    await expect(results([given])).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(new RegExp(`Environment counter@1 .*${problem.replace(/[()#]/g, "\\$&")}`)),
    });
  });

  test("a first observation of an agent that cannot be is refused", async () => {
    const session = await sessionOf({ reset: async () => ({ agent: "browser", messages: [] }) });
    await expect(session.reset({ signal: never })).rejects.toThrow(/agent: "browser" is not an agent/);
  });

  test("in any accepted episode no agent acts after its end, and each agent that exists has a flag", async () => {
    const agent = fc.constantFrom("lead", "browser#1", "browser#2", "browser#3", "browser", "judge", "");
    const flags = fc.dictionary(fc.constantFrom("lead", "browser#1", "browser#2", "lead#1"), fc.boolean(), {
      maxKeys: 1,
      noNullPrototype: true,
    });
    let accepted = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(agent, flags, flags), { minLength: 1, maxLength: 6 }), async (given) => {
        const plan = given.map(([next, terminated, truncated]) => step(next, { terminated, truncated }));
        const last = step("", { terminated: { lead: true, "browser#1": true, "browser#2": true, "browser#3": true } });
        const seen = await results([...plan, last]).catch(() => undefined);
        if (seen === undefined) return void refused++;
        accepted++;
        const ended = new Set<string>();
        const named = new Set(["lead"]);
        for (const { observation, terminated, truncated } of seen) {
          for (const [flagged, isOver] of [...Object.entries(terminated), ...Object.entries(truncated)]) {
            named.add(flagged);
            if (isOver) ended.add(flagged);
          }
          if (observation.agent !== "") named.add(observation.agent);
          expect(ended.has(observation.agent)).toBe(false);
          expect(Object.keys(terminated).toSorted()).toEqual([...named].toSorted());
          expect(Object.keys(truncated).toSorted()).toEqual([...named].toSorted());
        }
        expect([...named].filter((each) => !ended.has(each))).toEqual([]);
      }),
      { numRuns: 300, seed: 1 },
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(20);
  });
});

test("isFresh: false is the same as no isFresh, in process as over gRPC", async () => {
  const session = await sessionOf({ reset: async () => ({ agent: "lead", messages: [], isFresh: false }) });
  expect(Object.keys(await session.reset({ signal: never }))).toEqual(["agent", "messages"]);
  const wrong = await sessionOf({ reset: async () => ({ agent: "lead", messages: [], isFresh: 1 as never }) });
  await expect(wrong.reset({ signal: never })).rejects.toThrow(/isFresh: must be true or false/);
});

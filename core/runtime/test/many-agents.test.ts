import { describe, expect, test } from "@jest/globals";
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
});

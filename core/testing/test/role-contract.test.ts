import { describe, expect, test } from "@jest/globals";
import { definePlugin, textMessage } from "@mrlm/kit";
import type { Action, EnvironmentDefinition, SimulatedEnvironment, StepResult } from "@mrlm/spec";
import { environmentContract, inProcess } from "../src/index.ts";
import { crowd } from "./support/crowd-environment.ts";
import { dictation } from "./support/dictation-environment.ts";

for (const definition of [dictation, crowd])
  environmentContract({
    plugins: [definePlugin({ name: "test", environments: [definition] })],
    environment: definition.id,
  });

/** Returns the messages of the tests that an environment fails, by the test's name. */
async function faultsOf(definition: EnvironmentDefinition): Promise<Record<string, string>> {
  const tests: [string, () => Promise<void>][] = [];
  environmentContract({
    plugins: [definePlugin({ name: "test", environments: [definition] })],
    environment: definition.id,
    transports: { "in process": inProcess },
    registry: { describe: (_name, body) => body(), test: (name, body) => tests.push([name, body]) },
  });
  const faults: Record<string, string> = {};
  for (const [name, body] of tests)
    await body().catch((error: unknown) => (faults[name] = error instanceof Error ? error.message : String(error)));
  return faults;
}

/** Returns an environment whose actions and results are changed. */
function changed(
  original: EnvironmentDefinition,
  change: {
    readonly action?: (action: Action) => Action;
    readonly observation?: <O extends StepResult["observation"]>(observation: O) => O;
    readonly result?: (result: StepResult, action: Action) => StepResult;
  },
): EnvironmentDefinition {
  const { action = (same) => same, observation = (same) => same, result = (same) => same } = change;
  return {
    ...original,
    create: async (context, options): Promise<SimulatedEnvironment> => {
      const inner = await original.create(context, options);
      return {
        reset: async (given) => observation(await inner.reset(given)),
        async step(given, rest) {
          const answered = await inner.step(action(given), rest);
          return result({ ...answered, observation: observation(answered.observation) }, given);
        },
      };
    },
  };
}

const GOLD = 'fixture "both are right" (gold)';
const EXHAUSTED = "continues without an agent whose context is full, or ends";
const SCOUTS = 'fixture "each scout names its number" (gold)';

test("the tests know no fault of these environments", async () => {
  expect(await faultsOf(dictation)).toEqual({});
  expect(await faultsOf(crowd)).toEqual({});
});

describe("the contract catches an environment that", () => {
  const other: Readonly<Record<string, string>> = { reader: "writer", writer: "reader" };
  const swap = (record: Readonly<Record<string, never>>) =>
    Object.fromEntries(Object.entries(record).map(([agent, value]) => [other[agent] as string, value]));

  test("swaps the roles of its agents", async () => {
    const faults = await faultsOf(
      changed(dictation, {
        action: (action) => ({ ...action, agent: other[action.agent] as string }),
        observation: (observation) => ({ ...observation, agent: other[observation.agent] ?? "" }),
        result: ({ rewards, terminated, ...rest }) => ({
          ...rest,
          rewards: swap(rewards as never),
          terminated: swap(terminated as never),
        }),
      }),
    );
    expect(faults[GOLD]).toMatch(/Agent "writer" earned 0 in fixture "both are right", not 1/);
  });

  test("swaps the rewards of its roles", async () => {
    const faults = await faultsOf(
      changed(dictation, { result: (result) => ({ ...result, rewards: swap(result.rewards as never) }) }),
    );
    expect(faults['fixture "the writer is right against a script" (gold)']).toMatch(/Agent "writer" earned 0/);
  });

  test("has an ended agent on turn", async () => {
    const faults = await faultsOf(
      changed(dictation, {
        result: (result, { agent }) =>
          agent === "reader" && result.terminated["reader"] === true && result.observation.agent !== ""
            ? { ...result, observation: { agent: "reader", messages: [] } }
            : result,
      }),
    );
    expect(faults[GOLD]).toMatch(/observation\.agent: "reader" has already ended/);
  });

  test("names an agent that cannot be", async () => {
    for (const wrong of ["scout#0", "scout", "lead#2", "watcher#1"]) {
      const faults = await faultsOf(
        changed(crowd, {
          observation: (observation) =>
            observation.agent === "scout#1" ? { ...observation, agent: wrong } : observation,
        }),
      );
      expect(faults[SCOUTS]).toMatch(new RegExp(`observation\\.agent: "${wrong}" is `));
    }
  });

  test("rewards a role that it does not define", async () => {
    const faults = await faultsOf(
      changed(dictation, {
        result: (result) => ({
          ...result,
          rewards: { ...result.rewards, judge: { scored: true, value: 1, components: {} } },
        }),
      }),
    );
    expect(faults[GOLD]).toMatch(/rewards: "judge" is in none of the environment's roles \(reader, writer\)/);
  });

  test("lets an agent act again whose context is full, or stops working without it", async () => {
    const stubborn = changed(dictation, {
      result: (result, { agent, finishReason }) =>
        finishReason === "exhausted" ? { ...result, observation: { agent, messages: [] }, terminated: {} } : result,
    });
    expect(await faultsOf(stubborn)).toEqual({
      [EXHAUSTED]: expect.stringMatching(
        /After agent "reader" ran out of context in fixture "both are right": .*dictation@1 .*"reader" is exhausted/,
      ),
    });
    const broken = changed(dictation, {
      action: (action) => {
        if (action.finishReason === "exhausted") throw new TypeError("the message has no text");
        return action;
      },
    });
    expect(await faultsOf(broken)).toEqual({ [EXHAUSTED]: expect.stringContaining("the message has no text") });
  });

  test("has a role that no fixture plays", async () => {
    const faults = await faultsOf({ ...dictation, roles: { ...dictation.roles, judge: { many: true } } });
    expect(faults["every role is played in a fixture"]).toMatch(/No fixture has a turn of role judge/);
  });

  test("starts a conversation over without a message", async () => {
    const faults = await faultsOf(
      changed(dictation, {
        observation: (observation) => (observation.isFresh === true ? { ...observation, messages: [] } : observation),
      }),
    );
    expect(faults[GOLD]).toMatch(/The conversation of "writer" starts over before turn 4 .* without a message/);
  });

  test("has a scripted policy that fails, or whose choices do not follow from its seed", async () => {
    let calls = 0;
    const { constant } = dictation.scriptedPolicies ?? {};
    const faults = await faultsOf({
      ...dictation,
      scriptedPolicies: {
        ...(constant && { constant }),
        broken: () => ({ act: async () => Promise.reject(new TypeError("no table")) }),
        changing: () => ({
          act: async ({ agent }) => ({
            agent,
            message: textMessage("assistant", String(calls++)),
            finishReason: calls % 2 === 0 ? "stop" : "length",
          }),
        }),
      },
    });
    expect(faults).toEqual({
      'scripted policy "broken" plays every role to the end': expect.stringContaining(
        'Scripted policy "broken" of environment dictation@1 threw in act: TypeError: no table',
      ),
      'scripted policy "changing" plays every role to the end': expect.stringContaining(
        'The scripted policy "changing" acted differently with the same seed',
      ),
    });
  });

  test("has a fixture with a player of a wrong name", async () => {
    const [gold] = dictation.fixtures ?? [];
    const faultOf = async (players: NonNullable<NonNullable<typeof gold>["players"]>) =>
      (await faultsOf({ ...dictation, fixtures: gold ? [{ ...gold, players }] : [] }))[GOLD];
    expect(await faultOf({ raeder: { scripted: "constant" } })).toMatch(
      /player of role "raeder"\. The environment's roles are reader, writer/,
    );
    expect(await faultOf({ reader: { scripted: "constnat" } })).toMatch(
      /no scripted policy "constnat"\. Did you mean "constant"\?/,
    );
  });
});

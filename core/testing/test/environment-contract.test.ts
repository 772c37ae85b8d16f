import { describe, expect, test } from "@jest/globals";
import type { EnvironmentDefinition, Message, Plugin, SimulatedEnvironment } from "@mrlm/spec";
import { definePlugin } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { fixtureChecks } from "../src/contract/fixture-checks.ts";
import type { Subject } from "../src/contract/subject.ts";
import { environmentContract, inProcess, overGrpc, type Transport } from "../src/index.ts";
import { guessing } from "./support/guessing-environment.ts";

const pluginOf = (definition: EnvironmentDefinition): Plugin =>
  definePlugin({ name: "test", environments: [definition] });

environmentContract({ plugins: [pluginOf(guessing)], environment: "guessing" });

/** Returns the names of the tests that an environment fails. */
async function failuresOf(
  definition: EnvironmentDefinition,
  transports: Readonly<Record<string, Transport>> = { "in process": inProcess },
): Promise<string[]> {
  const tests: [string, () => Promise<void>][] = [];
  environmentContract({
    plugins: [pluginOf(definition)],
    environment: definition.id,
    transports,
    registry: { describe: (_name, body) => body(), test: (name, body) => tests.push([name, body]) },
  });
  const failed: string[] = [];
  for (const [name, body] of tests) await body().catch(() => failed.push(name));
  return failed;
}

/** Returns the guessing environment with another `reset`. */
function withReset(
  change: (
    original: SimulatedEnvironment["reset"],
    context: Parameters<EnvironmentDefinition["create"]>[0],
  ) => SimulatedEnvironment["reset"],
): EnvironmentDefinition {
  return {
    ...guessing,
    create: async (context, options) => {
      const original = await guessing.create(context, options);
      return {
        step: (action, rest) => original.step(action, rest),
        reset: change((reset) => original.reset(reset), context),
      };
    },
  };
}

test("U8: nothing stays open if an environment cannot create its tasks", async () => {
  const broken = (): never => {
    throw new Error("no such file");
  };
  const open = (): string[] =>
    process
      .getActiveResourcesInfo()
      .filter((kind) => /^(TCP|Pipe)|Worker|ServerWrap/.test(kind))
      .sort();
  const before = open();
  const local = new LocalHost({ source: await PluginHost.of([pluginOf({ ...guessing, tasks: broken })]) });
  await expect(overGrpc()(local)).rejects.toMatchObject({ code: "ENVIRONMENT_FAILED" });
  await local.close();
  const failed = await failuresOf(
    { ...guessing, tasks: broken },
    { "over gRPC": overGrpc(), "over gRPC, unary": overGrpc({ transport: "unary" }) },
  );
  expect(failed.length).toBeGreaterThan(30);
  expect(open()).toEqual(before);
});

test("U17: lists missing fixtures, and how to add each", async () => {
  const fixtures = (guessing.fixtures ?? []).filter(({ kind }) => kind !== "cheat" && kind !== "nop");
  const [check] = fixtureChecks(fixtures);
  const message = await check?.run({ definition: { ...guessing, fixtures } } as unknown as Subject).then(
    () => "",
    (error: Error) => error.message,
  );
  expect(message).toMatch(
    /^guessing@1 lacks fixtures of the kinds nop, cheat\..*\n.*\n {2}fixtures: \[\n {4}\{ name: "no answer", kind: "nop", .* \}, \/\/ .*\n {4}\{ name: "echo", kind: "cheat", /,
  );
  expect(message).not.toMatch(/gold|expected|actual/);
  await expect(
    fixtureChecks(guessing.fixtures ?? [])[0]?.run({ definition: guessing } as unknown as Subject),
  ).resolves.toBeUndefined();
});

describe("the contract catches an environment that", () => {
  test("shows the private side of its tasks", async () => {
    const leaky = withReset((reset, context) => async (options) => {
      const [split = "", index] = (options.task ?? "").split("/");
      const task = await context.tasks.get(split, Number(index));
      return { ...(await reset(options)), info: { task: JSON.stringify(task) } };
    });
    expect(await failuresOf(leaky)).toContain("private fields of tasks reach no client");
  });

  test("gives the answer away in its feedback", async () => {
    const leaking = withReset((reset, context) => async (options) => {
      const [split = "", index] = (options.task ?? "").split("/");
      const { private: hidden } = await context.tasks.get(split, Number(index));
      const observation = await reset(options);
      return { ...observation, info: { note: `not ${String(hidden["word"])}` } };
    });
    expect(await failuresOf(leaking)).toContain("private texts cannot be read before the first action");
  });

  test.each([
    [
      "the agent's own messages",
      (shown: readonly Message[], response: Message): readonly Message[] => [response, ...shown],
    ],
    [
      "the first observation",
      (shown: readonly Message[], _: Message, first: readonly Message[]): readonly Message[] => [...first, ...shown],
    ],
  ])("U6: shows %s again", async (_, repeat) => {
    const repeating: EnvironmentDefinition = {
      ...guessing,
      create: async (context, options) => {
        const original = await guessing.create(context, options);
        let first: readonly Message[] = [];
        return {
          async reset(given) {
            const observation = await original.reset(given);
            first = observation.messages;
            return observation;
          },
          async step(action, rest) {
            const result = await original.step(action, rest);
            const isOver = Object.values(result.terminated).every(Boolean);
            return isOver
              ? result
              : {
                  ...result,
                  observation: {
                    ...result.observation,
                    messages: repeat(result.observation.messages, action.message, first),
                  },
                };
          },
        };
      },
    };
    expect(await failuresOf(repeating)).toContain('fixture "the same again" (determinism)');
  });

  test("ignores its seed", async () => {
    const failed = await failuresOf(
      withReset((reset) => async (options) => ({ ...(await reset(options)), info: { at: Math.random() } })),
    );
    expect(failed).toEqual(
      expect.arrayContaining(["uses a seed, or refuses it", 'fixture "the same again" (determinism)']),
    );
  });

  test("remembers the episode before", async () => {
    const remembering = withReset((reset) => {
      let resets = 0;
      return async (options) => ({ ...(await reset(options)), info: { resets: resets++ } });
    });
    expect(await failuresOf(remembering)).toContain('fixture "the same again" (determinism)');
  });

  test("has overlapping splits, or none", async () => {
    const tasks: EnvironmentDefinition["tasks"] = () => ({
      splits: { train: 2, eval: 2 },
      get: async (split, index) => ({
        id: `${split}/${index}`,
        public: { letters: "a" },
        private: { word: String(index) },
      }),
    });
    expect(await failuresOf({ ...guessing, tasks })).toEqual(
      expect.arrayContaining([
        "tasks: splits do not overlap",
        "tasks: a train and an eval split, and the same index is the same task",
      ]),
    );
  });

  test("earns its fixtures another reward, or lacks some", async () => {
    const [gold, ...rest] = guessing.fixtures ?? [];
    expect(gold && (await failuresOf({ ...guessing, fixtures: [{ ...gold, reward: 2 }] }))).toEqual([
      "has a gold, nop, cheat, malformed and determinism fixture",
      'fixture "gives the word" (gold)',
    ]);
    expect(rest).toHaveLength(4);
  });
});

import { describe, expect, jest, test } from "@jest/globals";
import { definePlugin, generatedTasks, observe, singleStep, textMessage } from "@mrlm/kit";
import type { EnvironmentDefinition, MrlmError } from "@mrlm/spec";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { counterEnvironment, never } from "./support/counter-environment.ts";

async function hostOf(...definitions: EnvironmentDefinition<any>[]): Promise<LocalHost> {
  return new LocalHost({ source: await PluginHost.of([definePlugin({ name: "test", environments: definitions })]) });
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: MrlmError) => error,
  );

describe("environments", () => {
  test("a plain name is the newest version", async () => {
    const host = await hostOf(
      counterEnvironment({ id: "counter@2" }),
      counterEnvironment({ id: "counter@10" }),
      counterEnvironment(),
    );
    expect((await host.describe({ id: "counter" })).id).toBe("counter@10");
    expect((await host.describe({ id: "counter@1" })).id).toBe("counter@1");
    expect((await host.list()).map(({ id }) => id)).toEqual(["counter@2", "counter@10", "counter@1"]);
  });

  test("an unknown name is ENVIRONMENT_NOT_FOUND with the nearest", async () => {
    const host = await hostOf(counterEnvironment());
    expect(await failure(host.open({ id: "countre" }))).toMatchObject({
      code: "ENVIRONMENT_NOT_FOUND",
      message: expect.stringContaining('Did you mean "counter"?'),
      hint: "Available: counter@1.",
    });
  });

  test("roles may depend on the options, and are one agent without them", async () => {
    const roles = ({ goal }: { readonly goal: number }) => {
      if (goal === 7) throw new Error("seven");
      return Object.fromEntries(Array.from({ length: goal }, (_, i) => [`player_${i}`, {}]));
    };
    const host = await hostOf({ ...counterEnvironment(), roles } as EnvironmentDefinition<any>);
    const rolesUnder = async (goal: number) =>
      Object.keys((await host.describe({ id: "counter", options: { goal } })).roles);
    expect(await rolesUnder(2)).toEqual(["player_0", "player_1"]);
    expect(await rolesUnder(1)).toEqual(["player_0"]);
    expect(await failure(rolesUnder(7))).toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(/threw in roles.*seven/),
    });
  });

  test("options are checked before a session opens, and name the option", async () => {
    const host = await hostOf(counterEnvironment(), counterEnvironment({ id: "plain@1", options: undefined }));
    expect(await failure(host.open({ id: "counter", options: { goal: 0 } }))).toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("goal"),
    });
    expect(await failure(host.open({ id: "counter", options: { goals: 1 } }))).toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("goals"),
    });
    expect(await failure(host.open({ id: "plain", options: { goal: 1 } }))).toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("takes no options"),
    });
  });

  test("describes splits under the options that were asked about", async () => {
    const tasks: EnvironmentDefinition<{ goal: number }>["tasks"] = (_context, { goal }) =>
      generatedTasks({
        seed: 0,
        splits: { train: { size: goal, share: 1 }, eval: { size: 1, share: 1 } },
        generate: (random) => ({ public: {}, private: {}, key: String(random.next()) }),
      });
    const host = await hostOf(counterEnvironment({ tasks, maxTurns: 3 }));
    expect((await host.describe({ id: "counter", options: { goal: 7 } })).splits).toEqual({ train: 7, eval: 1 });
    expect((await host.describe({ id: "counter" })).maxTurns).toBe(3);
  });
});

describe("tasks and seeds", () => {
  test("one task source serves all sessions of equal options", async () => {
    const tasks = jest.fn(counterEnvironment().tasks as NonNullable<EnvironmentDefinition["tasks"]>);
    const host = await hostOf(counterEnvironment({ tasks }));
    await Promise.all([
      host.open({ id: "counter", options: { goal: 3 } }),
      host.open({ id: "counter@1", options: { goal: 3 } }),
      host.describe({ id: "counter", options: { goal: 3 } }),
    ]);
    expect(tasks).toHaveBeenCalledTimes(1);
    await host.open({ id: "counter", options: { goal: 4 } });
    expect(tasks).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["nothing", undefined, "it has no get()"],
    ["no splits", { get: async () => undefined }, "it has no splits"],
    [
      "half a task",
      { get: async () => undefined, splits: { train: 0.5 } },
      'split "train" has 0.5 tasks, which is not a whole number of 0 or more',
    ],
  ])("a source of %s is the author's fault", async (_, source, problem) => {
    const host = await hostOf(counterEnvironment({ tasks: () => source as never }));
    expect(await failure(host.describe({ id: "counter" }))).toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: `Environment counter@1 returned something malformed from tasks: ${problem}.`,
    });
  });

  test("without a task, the seed chooses one of the training split", async () => {
    const session = await (await hostOf(counterEnvironment())).open({ id: "counter" });
    const first = await session.reset({ seed: 3, signal: never });
    expect(await session.reset({ seed: 3, signal: never })).toEqual(first);
    const others = await Promise.all(
      [4, 5, 6, 7].map(async (seed) =>
        (await hostOf(counterEnvironment()))
          .open({ id: "counter" })
          .then((other) => other.reset({ seed, signal: never })),
      ),
    );
    expect(new Set(others.map((observation) => JSON.stringify(observation).split(" ")[0])).size).toBeGreaterThan(1);
  });

  test.each(["train/8", "train/-1", "train/01", "test/0", "train", "__proto__/0"])(
    "task %s does not exist",
    async (task) => {
      const session = await (await hostOf(counterEnvironment())).open({ id: "counter" });
      expect(await failure(session.reset({ task, signal: never }))).toMatchObject({
        code: "TASK_NOT_FOUND",
        message: expect.stringContaining("train/0 to train/7"),
      });
    },
  );

  test("an environment without tasks refuses one; one without determinism refuses a seed", async () => {
    const create = () => ({
      reset: async ({ seed }: { seed?: number }) => observe([textMessage("user", String(seed))]),
      step: async () => singleStep({}),
    });
    const host = await hostOf(
      counterEnvironment({ tasks: undefined, create }),
      counterEnvironment({ id: "live@1", tasks: undefined, create, determinism: "none" }),
    );
    const plain = await host.open({ id: "counter" });
    expect(await failure(plain.reset({ task: "train/0", signal: never }))).toMatchObject({
      code: "TASK_NOT_SUPPORTED",
    });
    expect(await failure(plain.reset({ seed: 0.5, signal: never }))).toMatchObject({ code: "OPTIONS_INVALID" });
    const live = await host.open({ id: "live" });
    expect(await failure(live.reset({ seed: 1, signal: never }))).toMatchObject({ code: "SEED_REFUSED" });
    expect(await live.reset({ signal: never })).toEqual(observe([textMessage("user", "undefined")]));
  });
});

describe("demonstrations", () => {
  const demonstrate: EnvironmentDefinition["demonstrate"] = async (_context, _options, task) => ({
    task,
    agent: "agent",
    messages: [textMessage("user", "?"), textMessage("assistant", "!")],
  });

  test("come in the order of the tasks, from the training split only", async () => {
    const host = await hostOf(counterEnvironment({ demonstrate }));
    expect((await host.demonstrate({ id: "counter" }, ["train/3", "train/1"])).map(({ task }) => task)).toEqual([
      "train/3",
      "train/1",
    ]);
    expect(await failure(host.demonstrate({ id: "counter" }, ["train/3", "eval/0"]))).toMatchObject({
      code: "DEMONSTRATION_REFUSED",
    });
    expect(await failure(host.demonstrate({ id: "counter" }, ["train/99"]))).toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  test("an environment without them refuses; a malformed one is the author's fault", async () => {
    const host = await hostOf(
      counterEnvironment(),
      counterEnvironment({
        id: "odd@1",
        demonstrate: async (_context, _options, task) => ({
          task,
          agent: "agent",
          messages: [textMessage("user", "?")],
        }),
      }),
    );
    expect(await failure(host.demonstrate({ id: "counter" }, ["train/0"]))).toMatchObject({
      code: "DEMONSTRATION_REFUSED",
    });
    expect(await failure(host.demonstrate({ id: "odd" }, ["train/0"]))).toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringContaining("nothing to learn"),
    });
  });
});

test("closing the host closes its sessions and then refuses", async () => {
  const close = jest.fn(async () => undefined);
  const host = await hostOf(
    counterEnvironment({
      tasks: undefined,
      create: () => ({ reset: async () => observe([]), step: async () => singleStep({}), close }),
    }),
  );
  const session = await host.open({ id: "counter" });
  await session.reset({ signal: never });
  await host.close();
  expect(close).toHaveBeenCalledTimes(1);
  expect(await failure(host.open({ id: "counter" }))).toMatchObject({ code: "SERVER_UNAVAILABLE" });
});

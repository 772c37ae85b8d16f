import { describe, expect, jest, test } from "@jest/globals";
import { observe, randomStream, singleStep, textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { type EnvironmentDefinition, MrlmError, score, type TrajectoryGroup, unscored } from "@mrlm/spec";
import type { Engine, Sampler, SampleRequest } from "@mrlm/spec/host";
import fc from "fast-check";
import { totalReward } from "../src/rollouts/episode-record.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, request, runner, withoutSeconds } from "./support/rollouts.ts";
import { bound, throughputEngine } from "./support/throughput-engine.ts";

/** Returns an environment whose answers come after arbitrary delays and whose episodes have arbitrary lengths. */
function unruly(seed: number): EnvironmentDefinition<any> {
  let instances = 0;
  return counterEnvironment({
    create: () => {
      const random = randomStream(`unruly/${instances++}`, seed);
      const wait = async (): Promise<void> => {
        for (let i = random.integer(0, 6); i > 0; i--) await Promise.resolve();
        if (random.next() < 0.1) await new Promise((resolve) => setTimeout(resolve, 1));
      };
      let left = 0;
      return {
        async reset({ seed: own, task }) {
          await wait();
          left = 1 + ((own as number) % 3);
          return observe([textMessage("user", `${task} ${own}`)]);
        },
        async step(action) {
          await wait();
          const text = JSON.stringify(action.message.parts);
          if (text.includes("a")) left--;
          return singleStep({
            messages: [textMessage("user", String(left))],
            reward: score(text.length),
            terminated: --left <= 0,
          });
        },
      };
    },
  });
}

/** Returns an engine that records its waves. */
function watched(engine: Engine, waves: SampleRequest[][]): Engine {
  return new Proxy(engine, {
    get(target, property) {
      if (property !== "sampler") return Reflect.get(target, property).bind(target);
      return async (model: string): Promise<Sampler> => {
        const sampler = await target.sampler(model);
        let wave: SampleRequest[] = [];
        return {
          sample: (given, options) => (wave.push(given), sampler.sample(given, options)),
          barrier: () => (waves.push(wave), (wave = []), sampler.barrier()),
          close: () => sampler.close(),
        };
      };
    },
  });
}

describe("groups", () => {
  test("come in the order of the tasks, members in order, sharing task and seed", async () => {
    const groups = await collect(await runner());
    expect(groups.map(({ task }) => task)).toEqual(request.tasks);
    for (const group of groups) {
      expect(group.trajectories.map(({ member }) => member)).toEqual([0, 1, 2, 3]);
      expect(new Set(group.trajectories.map(({ seed, task, group: id }) => `${seed} ${task} ${id}`)).size).toBe(1);
    }
    const all = groups.flatMap(({ trajectories }) => trajectories);
    expect(new Set(all.map(({ id }) => id)).size).toBe(12);
    expect(new Set(all.map(({ agents }) => agents["agent"]?.segments[0]?.tokens.join())).size).toBe(12);
  });

  test("of a task that is asked for twice are two groups with episodes of their own", async () => {
    const groups = await collect(await runner(), { tasks: ["train/0", "train/0"] });
    expect(groups[0]?.id).not.toBe(groups[1]?.id);
    const sampled = (group: TrajectoryGroup | undefined): unknown =>
      group?.trajectories.map(({ turns }) => turns.map(({ response }) => response));
    expect(sampled(groups[0])).not.toEqual(sampled(groups[1]));
  });

  test("numerics 10: a failed episode is in its group by id, with its error, and the others continue", async () => {
    const failing = counterEnvironment({
      create: (context, options) => {
        const inner = counterEnvironment().create(context, options as never) as never as { reset: any; step: any };
        let count = 0;
        return {
          reset: (given) => inner.reset(given),
          step: async (action, given) => {
            if (JSON.stringify(action.message).length % 3 === 0 && count++ === 0) throw new Error("bad luck");
            return inner.step(action, given);
          },
        };
      },
    });
    const groups = await collect(await runner({ host: await localHost(failing) }), { groupSize: 6 });
    expect(groups).toHaveLength(3);
    const all = groups.flatMap(({ trajectories }) => trajectories);
    const failed = all.filter(({ error }) => error !== undefined);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(18);
    for (const group of groups)
      expect(group.trajectories.map(({ member, group: id }) => [member, id])).toEqual(
        [0, 1, 2, 3, 4, 5].map((member) => [member, group.id]),
      );
    for (const trajectory of failed) {
      expect(trajectory.error).toEqual({ code: "ENVIRONMENT_FAILED", message: expect.stringContaining("bad luck") });
      expect(trajectory.agents["agent"]?.segments[0]?.tokens.length).toBeGreaterThan(0);
    }
    for (const trajectory of all.filter(({ error }) => error === undefined))
      expect(trajectory.agents["agent"]).toMatchObject({
        total: score(1, { count: 3 }),
        end: { terminated: true, truncated: false },
      });
  });

  test("U3: tools that the model's template cannot show end the collection", async () => {
    const host = await localHost(
      counterEnvironment({
        create: () => ({
          reset: async () => ({
            ...observe([textMessage("user", "1")]),
            tools: [{ name: "search", description: "", parameters: {} }],
          }),
          step: async () => singleStep({ terminated: true }),
        }),
      }),
    );
    await expect(collect(await runner({ host }))).rejects.toMatchObject({
      code: "TOOLS_UNSUPPORTED",
      message: expect.stringContaining("search"),
    });
  });

  test("U6: an environment that repeats the history is reported once", async () => {
    const repeating = counterEnvironment({
      create: () => {
        let left = 3;
        const messages = [textMessage("user", "a")];
        return {
          reset: async () => observe(messages),
          step: async ({ message }) =>
            singleStep({
              messages: [...messages, message, textMessage("user", "b")],
              reward: score(0),
              terminated: --left <= 0,
            }),
        };
      },
    });
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
    await collect(await runner({ host: await localHost(repeating), logger }));
    expect(warnings).toEqual([
      expect.stringMatching(/before turn 2 of environment counter@1 repeats what agent "agent" has already seen/),
    ]);
  });

  test("an episode that fails to start is recorded too", async () => {
    const groups = await collect(await runner(), { tasks: ["train/0", "train/99"] });
    expect(groups[1]?.trajectories.map(({ error }) => error?.code)).toEqual(Array(4).fill("TASK_NOT_FOUND"));
    expect(groups[0]?.trajectories.every(({ error }) => error === undefined)).toBe(true);
  });

  test("numerics 54: one unscored reward makes the total unscored, and the episode is no failure", async () => {
    let step = 0;
    const host = await localHost(
      counterEnvironment({
        create: () => ({
          reset: async () => observe([textMessage("user", "a")]),
          step: async () =>
            singleStep({
              reward: step++ % 2 ? score(1) : unscored("SCORER_FAILED", "down"),
              terminated: step % 2 === 0,
            }),
        }),
      }),
    );
    const [group] = await collect(await runner({ host }), { tasks: ["train/0"], groupSize: 1 });
    expect(group?.trajectories[0]).toMatchObject({
      agents: { agent: { total: { scored: false, code: "SCORER_FAILED" } } },
    });
    expect(group?.trajectories[0]?.error).toBeUndefined();
    expect(totalReward([score(1, { a: 1 }), score(2, { a: 2, b: 1 })])).toEqual(score(3, { a: 3, b: 1 }));
  });
});

describe("determinism", () => {
  test("numerics 56: same seed, same episodes, whatever the delays; waves are a function of what was submitted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 12 }), async (one, other, concurrency) => {
        const play = async (delays: number): Promise<[unknown, SampleRequest[][]]> => {
          const waves: SampleRequest[][] = [];
          const engine = watched(await bigramEngine(), waves);
          return [
            withoutSeconds(await collect(await runner({ host: await localHost(unruly(delays)), engine, concurrency }))),
            waves,
          ];
        };
        const [first, firstWaves] = await play(one);
        const [second, secondWaves] = await play(other);
        expect(second).toEqual(first);
        expect(secondWaves).toEqual(firstWaves);
        expect(Math.max(...firstWaves.map((wave) => wave.length))).toBeLessThanOrEqual(concurrency);
      }),
      { numRuns: 6 },
    );
  });

  test("concurrency does not change what is sampled, the label does", async () => {
    const alone = withoutSeconds(await collect(await runner({ concurrency: 1 })));
    expect(withoutSeconds(await collect(await runner({ concurrency: 5 })))).toEqual(alone);
    const answersOf = (groups: TrajectoryGroup[]) =>
      groups.map(({ trajectories }) => trajectories.map(({ turns }) => turns.map(({ response }) => response)));
    expect(answersOf(await collect(await runner(), { label: "other" }))).not.toEqual(
      answersOf(await collect(await runner())),
    );
  });

  test("throughput mode yields groups as they are complete, with the same bookkeeping", async () => {
    const engine = throughputEngine(await bigramEngine());
    const groups = await collect(
      await runner({ engine, isDeterministic: false, host: await localHost(unruly(4)), concurrency: 3 }),
      {
        tasks: ["train/0", "train/1", "train/2", "train/3"],
      },
    );
    expect(groups.map(({ task }) => task).sort()).toEqual(["train/0", "train/1", "train/2", "train/3"]);
    expect(groups.every(({ trajectories }) => trajectories.map(({ member }) => member).join() === "0,1,2,3")).toBe(
      true,
    );
  });
});

describe("limits", () => {
  const endless = counterEnvironment({
    options: undefined,
    create: () => ({
      reset: async () => observe([textMessage("user", "a")]),
      step: async () => singleStep({ messages: [textMessage("user", "bbbb")], reward: score(1) }),
    }),
  });

  test("numerics 34: a turn limit truncates and is recorded", async () => {
    const host = await localHost(endless);
    const [byRequest] = await collect(await runner({ host }), { maxTurns: 3 });
    expect(byRequest?.trajectories[0]).toMatchObject({
      agents: { agent: { total: score(3), end: { terminated: false, truncated: true, truncatedBy: "turns" } } },
    });
    expect(byRequest?.trajectories[0]?.turns).toHaveLength(3);
    const [byConfig] = await collect(await runner({ host, turnLimit: () => 2 }), { maxTurns: 3 });
    expect(byConfig?.trajectories[0]?.turns).toHaveLength(2);
    const [byHost] = await collect(await runner({ host: await localHost({ ...endless, maxTurns: 1 }) }));
    expect(byHost?.trajectories[0]).toMatchObject({
      agents: { agent: { end: { truncated: true, truncatedBy: "turns" } } },
    });
  });

  test("no segment passes the token limit; an episode that would is truncated by tokens", async () => {
    const [group] = await collect(await runner({ host: await localHost(endless), tokenLimit: () => 60 }), {
      maxSequenceTokens: 48,
    });
    for (const { agents, error } of group?.trajectories ?? []) {
      expect(error).toBeUndefined();
      expect(agents["agent"]?.end).toEqual({ terminated: false, truncated: true, truncatedBy: "tokens" });
      // An observation without room for an answer is omitted: the trainer's longest sequence is that of the sampler.
      for (const { tokens, mask } of agents["agent"]?.segments ?? []) {
        expect(tokens.length).toBeLessThanOrEqual(48);
        expect(mask.lastIndexOf(1)).toBe(tokens.length - 1);
      }
    }
  });

  test("a first prompt without room for an answer is a failure, not a zero", async () => {
    const [group] = await collect(await runner({ tokenLimit: () => 3 }));
    expect(group?.trajectories[0]?.error).toMatchObject({ code: "SEQUENCE_TOO_LONG" });
  });
});

describe("what concerns the whole run", () => {
  test("an engine that is gone rejects; finished groups came out before", async () => {
    const engine = await bigramEngine();
    let waves = 0;
    const dying = new Proxy(engine, {
      get: (target, property) =>
        property !== "sampler"
          ? Reflect.get(target, property).bind(target)
          : async (model: string) => {
              const sampler = await target.sampler(model);
              return {
                ...bound(sampler),
                sample: (given: SampleRequest) =>
                  ++waves > 4 ? Promise.reject(new MrlmError("ENGINE_EXITED", "killed")) : sampler.sample(given),
              };
            },
    });
    const groups: TrajectoryGroup[] = [];
    const playing = (async () => {
      for await (const group of (await runner({ engine: dying, concurrency: 2 })).collect({ ...request, groupSize: 1 }))
        groups.push(group);
    })();
    await expect(playing).rejects.toMatchObject({ code: "ENGINE_EXITED" });
    expect(groups.map(({ task }) => task)).toEqual(["train/0", "train/1"]);
  });

  test("an aborted request rejects with CANCELLED and closes its sessions", async () => {
    const close = jest.fn(async () => undefined);
    const controller = new AbortController();
    const host = await localHost(
      counterEnvironment({
        create: () => ({
          reset: async () => observe([textMessage("user", "a")]),
          step: () => (controller.abort(), new Promise<never>(() => undefined)),
          close,
        }),
      }),
    );
    await expect(collect(await runner({ host }), { signal: controller.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(close).toHaveBeenCalledTimes(12);
  });

  test("a consumer that stops early leaves nothing behind", async () => {
    const rollouts = await runner({ concurrency: 2 });
    for await (const group of rollouts.collect(request)) {
      expect(group.task).toBe("train/0");
      break;
    }
    expect(await collect(rollouts)).toHaveLength(3);
  });
});

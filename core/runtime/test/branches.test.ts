import { describe, expect, test } from "@jest/globals";
import { messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, score, type Trajectory, unscored } from "@mrlm/spec";
import type { EnvironmentHost, RolloutRequest } from "@mrlm/spec/host";
import { duelEnvironment, overGrpc } from "@mrlm/testing";
import type { BranchRecord } from "../src/rollouts/branches.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, runner, withOpen, withoutSeconds } from "./support/rollouts.ts";
import { throughputEngine } from "./support/throughput-engine.ts";

const BRANCHES = { count: 2, every: 1, policies: ["policy"] };

/** Episodes of 2 to 4 turns, as the answers decide. Turn k earns 10^k, and more for longer answers. `wait` delays each step. */
function worded(
  wait: () => Promise<void> = async () => undefined,
  changes: Partial<EnvironmentDefinition> = {},
): EnvironmentDefinition {
  return counterEnvironment({
    maxTurns: 4,
    ...changes,
    create: () => {
      let texts: string[] = [];
      return {
        async reset({ task, seed }) {
          texts = [];
          return observe([textMessage("user", `${(task as string).replace("/", " ")} ${seed}`)]);
        },
        async step({ message }) {
          await wait();
          const text = messageText(message);
          texts.push(text);
          const isLast = texts.length >= 4 || (texts.length >= 2 && text.length % 2 === 1);
          return singleStep({
            messages: isLast ? [] : [textMessage("user", `${texts.length}`)],
            reward: score(10 ** (texts.length - 1) * (1 + text.length / 100)),
            terminated: isLast,
          });
        },
        snapshot: async () => texts,
        restore: async (state) => void (texts = state as string[]),
      };
    },
  }) as EnvironmentDefinition;
}

async function play(
  environment: EnvironmentDefinition,
  changes: Partial<RolloutRequest> = {},
  overrides: Parameters<typeof runner>[0] = {},
) {
  const groups = await collect(await runner({ host: await localHost(environment), ...overrides }), {
    environment: { id: environment.id },
    branches: BRANCHES,
    ...changes,
  });
  return { groups, trajectories: groups.flatMap(({ trajectories }) => trajectories) };
}

const branchesOf = ({ turns }: Trajectory): (readonly BranchRecord[] | undefined)[] =>
  turns.map(({ branches }) => branches);
const bare = (trajectory: Trajectory) => ({
  ...trajectory,
  seconds: undefined,
  turns: trajectory.turns.map(({ branches: _, ...turn }) => turn),
});

/** Environment whose turns, counted from 1, depend on the number of the session, from 0: the first 4 are those of the episodes, their branches follow. */
function turns(turnOf: (session: number, turn: number) => Parameters<typeof singleStep>[0]): EnvironmentDefinition {
  let opened = 0;
  return counterEnvironment({
    create: () => {
      const session = opened++;
      let turn = 0;
      return {
        reset: async () => ((turn = 0), observe([textMessage("user", "go")])),
        step: async () => singleStep(turnOf(session, ++turn)),
      };
    },
  }) as EnvironmentDefinition;
}

describe("branches", () => {
  test("start at each turn but the first, and earn what follows", async () => {
    const { trajectories } = await play(worded());
    expect(trajectories.some(({ turns }) => turns.length > 2)).toBe(true);
    for (const trajectory of trajectories)
      for (const [turn, branches] of branchesOf(trajectory).entries()) {
        expect(branches?.length).toBe(turn === 0 ? undefined : 2);
        for (const { rewards, turns, tokens, error } of branches ?? []) {
          expect(error).toBeUndefined();
          expect(tokens).toBeGreaterThanOrEqual(turns);
          // Of turns `turn` to `turn + turns - 1`, each 10^k and up to half more.
          const least = Array.from({ length: turns }, (_, k) => 10 ** (turn + k)).reduce((sum, each) => sum + each);
          const { value } = rewards["agent"] as { readonly value: number };
          expect(value).toBeGreaterThanOrEqual(least);
          expect(value).toBeLessThan(1.5 * least);
        }
      }
    const all = trajectories.flatMap((trajectory) => branchesOf(trajectory).flatMap((own) => own ?? []));
    expect(new Set(all.map(({ rewards }) => JSON.stringify(rewards))).size).toBeGreaterThan(5);
  });

  test("leave the episodes as they are without them", async () => {
    const [branched, plain] = [await play(worded()), await play(worded(), { branches: undefined as never })];
    expect(branched.trajectories.map(bare)).toEqual(plain.trajectories.map(bare));
  });

  test("start at every second turn, counted from 0", async () => {
    const { trajectories } = await play(worded(), { branches: { ...BRANCHES, every: 2 } });
    for (const trajectory of trajectories)
      for (const [turn, branches] of branchesOf(trajectory).entries())
        expect(branches?.length).toBe(turn === 2 ? 2 : undefined);
  });

  test("start at turns of the learning policies alone, also at the first one of an agent that acts second", async () => {
    const players = {
      first: { kind: "model", name: "other", model: "policy" },
      second: { kind: "policy", policy: "policy" },
    } as const;
    const { trajectories } = await play(duelEnvironment({ rounds: 2 }), { players, tasks: ["train/0", "train/1"] });
    for (const trajectory of trajectories) {
      expect(branchesOf(trajectory).map((branches) => branches?.length)).toEqual([undefined, 2, undefined, 2]);
      const [, branches] = branchesOf(trajectory);
      for (const { rewards, turns } of branches ?? []) {
        expect(turns).toBe(3);
        expect(Object.keys(rewards)).toEqual(["first", "second"]);
      }
    }
  });

  test("are the same for any delays and places, and take no more places than the episodes", async () => {
    let [live, most] = [0, 0];
    const watched = async (): Promise<EnvironmentHost> => {
      const host = await localHost(
        worded(async () => {
          for (let i = Math.floor(Math.random() * 6); i > 0; i--) await Promise.resolve();
          if (Math.random() < 0.1) await new Promise((resolve) => setTimeout(resolve, 1));
        }),
      );
      return withOpen(host, {
        open: async (...given) => {
          const session = await host.open(...given);
          most = Math.max(most, ++live);
          return {
            description: session.description,
            reset: (options) => session.reset(options),
            step: (action, options) => session.step(action, options),
            close: () => (live--, session.close()),
          };
        },
      });
    };
    const { groups } = await play(worded());
    for (const concurrency of [3, 5, 64]) {
      [live, most] = [0, 0];
      const other = await play(worded(), {}, { host: await watched(), concurrency });
      expect(withoutSeconds(other.groups)).toEqual(withoutSeconds(groups));
      expect(most).toBe(Math.min(concurrency, 12));
      expect(live).toBe(0);
    }
    const engine = throughputEngine(await bigramEngine());
    const free = await play(worded(), {}, { host: await watched(), engine, isDeterministic: false });
    const inOrder = free.groups.toSorted((one, other) => one.task.localeCompare(other.task));
    expect(withoutSeconds(inOrder)).toEqual(withoutSeconds(groups));
  });

  test.each(["stream", "unary"] as const)("are the same on a server (%s)", async (transport) => {
    const host = await localHost(worded());
    const remote = await overGrpc({ transport })(host);
    const [here, there] = [await play(worded()), await play(worded(), {}, { host: remote })];
    await remote.close();
    expect(withoutSeconds(there.groups)).toEqual(withoutSeconds(here.groups));
  });

  test("of an environment that answers otherwise fail, and the episode stays", async () => {
    // The branches of all 4 episodes come after them. Those from turn 1 see another observation, those from turn 2 another reward too.
    const luck = turns((session, turn) => ({
      messages: [textMessage("user", session < 4 ? "1" : "2")],
      reward: score(1),
      terminated: turn === 3,
    }));
    const { trajectories } = await play(luck, { tasks: ["train/0"] });
    for (const trajectory of trajectories) {
      expect(trajectory.error).toBeUndefined();
      const branches = branchesOf(trajectory).flatMap((own) => own ?? []);
      expect(branches).toHaveLength(4);
      for (const { error, rewards } of branches) {
        expect(error?.code).toBe("ENVIRONMENT_FAILED");
        expect(error?.message).toContain(`of episode ${trajectory.id}`);
        expect(rewards).toEqual({});
      }
    }
  });

  test("of another reward alone fail too, as do those of another length", async () => {
    for (const changed of ["reward", "length"] as const) {
      const luck = turns((session, turn) => ({
        messages: [textMessage("user", "on")],
        reward: score(changed === "reward" && session >= 4 ? 2 : 1),
        terminated: turn === (changed === "length" && session >= 4 ? 1 : 3),
      }));
      const { trajectories } = await play(luck, { tasks: ["train/0"] });
      for (const trajectory of trajectories)
        for (const { error } of branchesOf(trajectory).flatMap((own) => own ?? []))
          expect(error?.message).toContain("differed when a branch repeated its actions");
    }
  });

  test("that fail or are unscored have no reward", async () => {
    const failing = turns((session, turn) => {
      if (session >= 4 && session % 2 === 0 && turn === 2) throw new Error("broken");
      return {
        messages: [textMessage("user", "on")],
        reward: session >= 4 && turn === 2 ? unscored("SCORER_FAILED", "no scorer") : score(1),
        terminated: turn === 2,
      };
    });
    const { trajectories } = await play(failing, { tasks: ["train/0"] });
    const branches = trajectories.flatMap((trajectory) => branchesOf(trajectory).flatMap((own) => own ?? []));
    expect(branches.filter(({ error }) => error?.code === "ENVIRONMENT_FAILED")).toHaveLength(4);
    const others = branches.filter(({ error }) => error === undefined);
    expect(others).toHaveLength(4);
    for (const { rewards } of others) expect(rewards["agent"]).toMatchObject({ scored: false, code: "SCORER_FAILED" });
  });

  test("an unscored episode has none", async () => {
    const lost = unscored("SCORER_FAILED", "no scorer");
    const unscoring = turns((_, turn) => ({
      messages: [textMessage("user", "on")],
      reward: lost,
      terminated: turn === 2,
    }));
    const { trajectories } = await play(unscoring, { tasks: ["train/0"] });
    expect(trajectories.flatMap(branchesOf)).toEqual(new Array(8).fill(undefined));
  });

  test("an episode that failed has none", async () => {
    const broken = turns(() => {
      throw new Error("broken");
    });
    const { trajectories } = await play(broken, { tasks: ["train/0"] });
    expect(trajectories.map(({ error }) => error?.code)).toEqual(new Array(4).fill("ENVIRONMENT_FAILED"));
    expect(trajectories.flatMap(branchesOf).every((branches) => branches === undefined)).toBe(true);
  });

  describe("from snapshots", () => {
    const withoutRepeated = (groups: unknown): unknown =>
      JSON.parse(JSON.stringify(groups, (key, value: unknown) => (key === "repeated" ? undefined : value)));

    test("are those of repeated actions, and the environment repeats no turn", async () => {
      let steps = 0;
      const count = async (): Promise<void> => void steps++;
      const repeated = await play(worded(count));
      const before = steps;
      const restored = await play(worded(count, { snapshots: true }));
      expect(withoutRepeated(withoutSeconds(restored.groups))).toEqual(
        withoutRepeated(withoutSeconds(repeated.groups)),
      );
      const sum = ({ trajectories }: typeof repeated): number =>
        trajectories
          .flatMap((trajectory) => branchesOf(trajectory).flatMap((own) => own ?? []))
          .reduce((all, each) => all + each.repeated, 0);
      expect(sum(repeated)).toBeGreaterThan(20);
      expect(sum(restored)).toBe(0);
      expect(before - (steps - before)).toBe(sum(repeated));
    });

    test("start in environments without determinism, each in the state of its episode", async () => {
      const luck = counterEnvironment({
        determinism: "none",
        snapshots: true,
        create: () => {
          let [turn, luck] = [0, 0];
          return {
            reset: async () => (([turn, luck] = [0, Math.random()]), observe([textMessage("user", "go")])),
            step: async () => {
              turn++;
              return singleStep({
                messages: turn === 3 ? [] : [textMessage("user", "on")],
                reward: score(turn === 3 ? luck + (Math.random() < 0.5 ? 10 : 20) : 0),
                terminated: turn === 3,
              });
            },
            snapshot: async () => ({ turn, luck }),
            restore: async (state) => (({ turn, luck } = state as { turn: number; luck: number }), undefined),
          };
        },
      }) as EnvironmentDefinition;
      const { trajectories } = await play(luck, { branches: { ...BRANCHES, count: 8 } });
      for (const trajectory of trajectories) {
        const { total } = trajectory.agents["agent"] as Trajectory["agents"][string];
        const own = (total as { readonly value: number }).value % 10;
        const earned = branchesOf(trajectory).flatMap((branches) =>
          (branches ?? []).map(({ rewards }) => (rewards["agent"] as { readonly value: number }).value),
        );
        expect(earned).toHaveLength(16);
        for (const each of earned) expect(each % 10).toBeCloseTo(own, 9);
        expect(new Set(earned.map(Math.floor)).size).toBe(2);
      }
    });

    test("an environment that throws in close() loses no episode and no branch", async () => {
      const whole = worded(undefined, { snapshots: true });
      const create: typeof whole.create = async (...given) => ({
        ...(await whole.create(...given)),
        close: () => Promise.reject(new Error("close")),
      });
      const [thrown, calm] = [await play({ ...whole, create }), await play(whole)];
      expect(withoutSeconds(thrown.groups)).toEqual(withoutSeconds(calm.groups));
    });

    test("an environment that lacks a method, or returns a state that is no JSON value, fails its episodes", async () => {
      const broken = worded(undefined, { snapshots: true });
      const create: typeof broken.create = async (...given) => {
        const made = await broken.create(...given);
        return { ...made, snapshot: async () => Number.NaN };
      };
      const half: typeof broken.create = async (...given) => ({
        ...(await broken.create(...given)),
        restore: undefined as never,
      });
      for (const each of [create, half]) {
        const { trajectories } = await play({ ...broken, create: each });
        for (const { error } of trajectories) expect(error?.code).toBe("ENVIRONMENT_FAILED");
      }
    });

    test("a server has none: its branches repeat the actions", async () => {
      const host = await localHost(worded(undefined, { snapshots: true }));
      const remote = await overGrpc()(host);
      const there = await play(worded(), {}, { host: remote });
      await remote.close();
      expect(withoutSeconds(there.groups)).toEqual(withoutSeconds((await play(worded())).groups));
    });
  });
});

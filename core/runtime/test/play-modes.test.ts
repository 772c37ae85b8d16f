import { describe, expect, test } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StagePlayState } from "../src/play/stage-play.ts";
import type { GroupPlayer } from "../src/play/take-player.ts";
import type { AgentTrajectory, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { RolloutRequest } from "@mrlm/spec/host";
import {
  closeStoresAfterEach,
  counted,
  environment,
  fakeRollouts,
  learnerOf,
  openStore,
  plan,
  type Setting,
  tasksOf,
} from "./support/learners.ts";

closeStoresAfterEach();

/** Weights whose version counts the publications from 0, and the number of plays under way at each of them. */
function publishing(from = 0) {
  const state = { version: from - 1, playing: 0, during: [] as number[] };
  const publish: Setting["publish"] = async () => {
    state.during.push(state.playing);
    state.version++;
    return { versions: { policy: state.version }, checksum: `sum-${state.version}` };
  };
  return { state, publish };
}

/** Takes a number of batches, one in each iteration. */
async function takeAll({ learner, at }: Awaited<ReturnType<typeof learnerOf>>, count: number) {
  const batches = [];
  for (let i = 0; i < count; i++) {
    batches.push(await learner.take());
    at.iteration++;
    await sleep(1);
  }
  return batches;
}

const takeOf = ({ label }: RolloutRequest): number => Number(label.split("/")[2]);

describe("pipelined", () => {
  const shape = (lag: number, changes: Partial<Setting> = {}): Setting => ({
    plan: plan(),
    mode: { mode: "pipelined", lag },
    iterations: 6,
    ...changes,
  });

  test.each([1, 2, 3])(
    "take n is played with the policy after max(0, n - 1 - lag) takes, and nothing beyond the last; lag %i",
    async (lag) => {
      const { state, publish } = publishing();
      const { rollouts, requests } = fakeRollouts();
      const made = await learnerOf(shape(lag, { rollouts: counted(rollouts, state), publish }));
      const batches = await takeAll(made, 6);
      await made.learner.end();
      const wanted = [1, 2, 3, 4, 5, 6].map((take) => [take, Math.max(0, take - 1 - lag)]);
      expect(requests.map((request) => [takeOf(request), request.versions?.["policy"]])).toEqual(wanted);
      // Ages count from the newest weights; a publication never meets a play.
      expect(batches.map(({ version }, i) => version - (wanted[i] as number[])[1]!)).toEqual(
        [0, 1, 2, 3, 4, 5].map((take) => Math.min(take, lag)),
      );
      expect(Math.max(...state.during)).toBe(0);
    },
  );

  test("as many cohorts are played at the same time as there are samplers, also those that join during a batch", async () => {
    const { rollouts, requests } = fakeRollouts();
    let [samplers, playing] = [1, 0];
    const most: number[] = [];
    const joining: GroupPlayer = {
      groupsOf: rollouts.groupsOf,
      async *collect(request) {
        playing++;
        (most[takeOf(request)] as number) = Math.max(most[takeOf(request)] ?? 0, playing);
        // Two samplers join while the first cohort of the second batch is played, and leave before the third.
        if (takeOf(request) === 2) samplers = 3;
        if (takeOf(request) === 3) samplers = 1;
        await sleep(takeOf(request) === 2 ? 100 : 2);
        yield* rollouts.collect(request);
        playing--;
      },
    };
    const plan4 = plan({ groups: 4 });
    const made = await learnerOf(
      shape(1, { plan: plan4, rollouts: joining, cohorts: 4, iterations: 3, parallel: () => samplers }),
    );
    const batches = await takeAll(made, 3);
    await made.learner.end();
    expect(most.slice(1)).toEqual([1, 3, expect.any(Number)]);
    expect(requests).toHaveLength(12);
    const alone = await learnerOf(shape(1, { plan: plan4, cohorts: 4, iterations: 3 }));
    const ids = (all: typeof batches): string[][] => all.map(({ groups }) => groups.map(({ id }) => id));
    expect(ids(batches)).toEqual(ids(await takeAll(alone, 3)));
  });

  test("a restored learner takes the batches that were played ahead from the store, and plays on as the saved one", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
    const store = await openStore(path);
    const first = publishing();
    const saved = await learnerOf(shape(2, { store, publish: first.publish }));
    await takeAll(saved, 2);
    await saved.learner.settled();
    const state = JSON.parse(JSON.stringify(saved.learner.state())) as StagePlayState;
    expect(state.ahead?.map(({ checksum }) => checksum)).toEqual(["sum-0", "sum-1"]);
    const rest = await takeAll(saved, 4);
    const again = publishing(2);
    const restored = await learnerOf(shape(2, { store: await openStore(path), publish: again.publish }), state);
    restored.at.iteration = 3;
    expect((await takeAll(restored, 4)).map(({ groups }) => tasksOf(groups))).toEqual(
      rest.map(({ groups }) => tasksOf(groups)),
    );
    expect(restored.requests).toEqual([]);
  });

  test("a batch that was played ahead of a checkpoint and is not in the store is not played with other weights", async () => {
    const saved = await learnerOf(shape(1, { publish: publishing().publish }));
    await takeAll(saved, 2);
    await saved.learner.settled();
    const restored = await learnerOf(shape(1, { publish: publishing(2).publish }), saved.learner.state());
    restored.at.iteration = 3;
    await expect(restored.learner.take()).rejects.toMatchObject({
      code: "STORE_INVALID",
      message: expect.stringContaining("lacks batch 2/policy/3/0, which was played before the checkpoint"),
    });
  });

  test("an error of a play ahead is that of the take that needs it", async () => {
    const { rollouts } = fakeRollouts();
    const failing: GroupPlayer = {
      groupsOf: rollouts.groupsOf,
      collect: (request) => {
        if (takeOf(request) === 2) throw new Error("gone");
        return rollouts.collect(request);
      },
    };
    const { learner, at } = await learnerOf(shape(1, { rollouts: failing }));
    await learner.take();
    at.iteration = 2;
    await expect(learner.take()).rejects.toThrow("gone");
    await learner.close();
  });

  test("what is played ahead of the end of a stage is abandoned", async () => {
    const store = await openStore();
    const { learner } = await learnerOf(shape(2, { store }));
    await learner.take();
    await learner.settled();
    await learner.end();
    expect(await store.buffer("2/policy")).toEqual({ open: 0, leased: 0, ready: 0 });
    await expect(store.settle("2/policy", 2, { credits: [], isApplied: true })).rejects.toThrow("was never taken");
  });
});

describe("async", () => {
  const shape = (lag: number, changes: Partial<Setting> = {}): Setting => ({
    plan: plan(),
    mode: { mode: "async", lag },
    iterations: 100,
    concurrency: 4,
    ...changes,
  });

  test("groups of a killed process that were committed are taken; a logged take is the same again", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
    const store = await openStore(path);
    const killed = await learnerOf(
      shape(1, { store, publish: publishing().publish, environments: [environment("e@1")] }),
    );
    const [first] = await takeAll(killed, 1);
    const state = JSON.parse(JSON.stringify(killed.learner.state())) as StagePlayState;
    const second = await killed.learner.take();
    await killed.learner.close();
    const again = await learnerOf(shape(1, { store: await openStore(path), publish: publishing(1).publish }), state);
    again.at.iteration = 2;
    expect((await again.learner.take()).groups).toEqual(second.groups);
    again.at.iteration = 3;
    const third = await again.learner.take();
    const ids = [first, second, third].flatMap((batch) => batch?.groups.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(12);
    await again.learner.close();
  });

  test("a stage that was ended and made longer continues, with the groups that were under way", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
    const ended = await learnerOf(shape(1, { store: await openStore(path), publish: publishing().publish }));
    const before = await takeAll(ended, 3);
    await ended.learner.end();
    const state = JSON.parse(JSON.stringify(ended.learner.state())) as StagePlayState;
    const longer = await learnerOf(shape(1, { store: await openStore(path), publish: publishing(3).publish }), state);
    longer.at.iteration = 4;
    const after = await takeAll(longer, 3);
    await longer.learner.close();
    const numbers = [...before, ...after].flatMap(({ groups }) => groups.map(({ id }) => Number(id.split("/")[2])));
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
  });

  test("nothing is opened beyond the last take; a stage that was finished and made longer continues", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
    const store = await openStore(path);
    const ended = await learnerOf(shape(1, { store, publish: publishing().publish, iterations: 3 }));
    const before = await takeAll(ended, 3);
    expect(await store.buffer("2/policy")).toEqual({ open: 0, leased: 0, ready: 0 });
    const state = JSON.parse(JSON.stringify(ended.learner.state())) as StagePlayState;
    await ended.learner.end();
    const changes = { store: await openStore(path), publish: publishing(3).publish, iterations: 5 };
    const longer = await learnerOf(shape(1, changes), state);
    longer.at.iteration = 4;
    const after = await takeAll(longer, 2);
    await longer.learner.close();
    expect([...ended.requests, ...longer.requests].map(takeOf)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    const numbers = [...before, ...after].flatMap(({ groups }) => groups.map(({ id }) => Number(id.split("/")[2])));
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test("a logged batch with groups of other tasks is STORE_INVALID", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
    const before = await learnerOf(shape(1, { store: await openStore(path), publish: publishing().publish }));
    await takeAll(before, 1);
    await before.learner.close();
    const changes = { store: await openStore(path), publish: publishing().publish, plan: plan({ name: "other" }) };
    const after = await learnerOf(shape(1, changes));
    await expect(after.learner.take()).rejects.toMatchObject({ code: "STORE_INVALID" });
    await after.learner.close();
  });

  describe("on_stale", () => {
    /** Groups of a task t with two sampled tokens, by versions 5 and (for odd t) 10, where 10 is the newest. */
    const aging: GroupPlayer = {
      groupsOf: fakeRollouts().rollouts.groupsOf,
      async *collect(request) {
        for await (const group of fakeRollouts().rollouts.collect(request)) {
          const [trajectory] = group.trajectories as [Trajectory];
          const [part] = Object.values(trajectory.agents) as [AgentTrajectory];
          const isMixed = Number(group.task.split("/")[1]) % 2 === 1;
          const segment = {
            tokens: Int32Array.of(1, 2, 3),
            logprobs: Float32Array.of(0, -1, -2),
            mask: Uint8Array.of(0, 1, 1),
            versions: Int32Array.of(-1, 5, isMixed ? 10 : 5),
            parent: null,
          };
          yield { ...group, trajectories: [{ ...trajectory, agents: { agent: { ...part, segments: [segment] } } }] };
        }
      },
    };
    const learning = (onStale: "wait" | "correct", rollouts: GroupPlayer) =>
      learnerOf(shape(2, { mode: { mode: "async", lag: 2, on_stale: onStale }, rollouts, plan: plan({ groups: 3 }) }));
    const numbersOf = (groups: readonly TrajectoryGroup[]): number[] =>
      groups.map(({ id }) => Number(id.split("/")[2]));

    test("wait: a group with an older token, which only a run with other settings has left, is refused and replaced", async () => {
      const young: GroupPlayer = {
        ...aging,
        collect: (request) =>
          takeOf(request) <= 4 ? aging.collect(request) : fakeRollouts().rollouts.collect(request),
      };
      const { learner } = await learning("wait", young);
      const { groups, played } = await learner.take();
      expect(numbersOf(groups)).toEqual([5, 6, 7]);
      expect(played).toHaveLength(7);
      expect(learner.lap()?.metrics).toMatchObject({
        ...{ "offpolicy/lag_max": 0, "buffer/learnt": 3, "buffer/refused": 4 },
        ...{ "selection/tasks": 3 / 7, "selection/lengths": 3 / ((3 * 1 + 4 * 2) / 7) / 3, "selection/durations": 1 },
      });
      await learner.close();
    });

    test("correct: it is learnt from", async () => {
      const { learner } = await learning("correct", aging);
      const { groups } = await learner.take();
      expect(numbersOf(groups)).toEqual([1, 2, 3]);
      expect(learner.lap()?.metrics).toMatchObject({
        ...{ "offpolicy/lag_max": 5, "buffer/refused": 0 },
        ...{ "selection/tasks": 1, "selection/lengths": 1, "selection/durations": 1 },
      });
      await learner.close();
    });

    test("each policy that learns has an age of its own, which a logged batch keeps", async () => {
      const versionsOf = { a: [8, 9], b: [17, 19] } as const;
      const both: GroupPlayer = {
        groupsOf: aging.groupsOf,
        async *collect(request) {
          for await (const group of fakeRollouts().rollouts.collect(request)) {
            const [trajectory] = group.trajectories as [Trajectory];
            const [part] = Object.values(trajectory.agents) as [AgentTrajectory];
            const isOld = takeOf(request) === 1;
            const partOf = (policy: "a" | "b"): AgentTrajectory => ({
              ...part,
              player: { kind: "policy", name: policy, policy },
              segments: [
                {
                  tokens: Int32Array.of(1, 2, 3),
                  logprobs: Float32Array.of(0, -1, -2),
                  mask: Uint8Array.of(0, 1, 1),
                  versions: Int32Array.of(
                    -1,
                    ...(isOld ? versionsOf[policy] : [versionsOf[policy][1], versionsOf[policy][1]]),
                  ),
                  parent: null,
                },
              ],
            });
            yield { ...group, trajectories: [{ ...trajectory, agents: { a: partOf("a"), b: partOf("b") } }] };
          }
        },
      };
      const path = join(mkdtempSync(join(tmpdir(), "mrlm-modes-")), "episodes.sqlite");
      const taken = async ([a, b]: readonly [number, number], restored?: StagePlayState) => {
        const { learner } = await learnerOf(
          {
            algorithms: { a: "test@1", b: "test@1" },
            plan: plan({ groups: 1 }),
            mode: { mode: "async", lag: 2 },
            rollouts: both,
            publish: async () => ({ versions: { a, b }, checksum: "sum" }),
            store: await openStore(path),
          },
          restored,
        );
        const state = JSON.parse(JSON.stringify(learner.state())) as StagePlayState;
        const { groups, version } = await learner.source("b").take();
        await learner.close();
        return { state, version, numbers: numbersOf(groups) };
      };
      // The first group has a token of policy b that is 3 versions old, and none of policy a that is older than 2.
      const first = await taken([10, 20]);
      expect(first).toMatchObject({ version: 20, numbers: [2] });
      // A resumed run counts its publications on from another number.
      expect(await taken([13, 23], first.state)).toMatchObject({ version: 20, numbers: [2] });
    });
  });

  test("an error of a play ends the run", async () => {
    const { rollouts } = fakeRollouts();
    const failing: GroupPlayer = {
      groupsOf: rollouts.groupsOf,
      collect: () => {
        throw new Error("gone");
      },
    };
    const { learner } = await learnerOf(shape(1, { rollouts: failing }));
    await expect(learner.take()).rejects.toThrow("gone");
    await learner.close();
  });
});

import { describe, expect, jest, test } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { score, type TrainingEnvironment, type Trajectory, unscored } from "@mrlm/spec";
import type { PlayPlan } from "@mrlm/spec/host";
import { learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import fc from "fast-check";
import { learnableParts } from "../src/play/credits.ts";
import type { StagePlayState } from "../src/play/stage-play.ts";
import type { GroupPlayer } from "../src/play/take-player.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import {
  closeStoresAfterEach,
  environment,
  fakeRollouts,
  learnerOf,
  openStore,
  plan,
  type Setting,
  tasksOf,
} from "./support/learners.ts";
import { runner, localHost } from "./support/rollouts.ts";

closeStoresAfterEach();

describe("labels", () => {
  test("are STAGE/NAME/TAKE/ENVIRONMENT, with the refill exactly where the plan states refills, 0 included", async () => {
    const labels = async (changes: Partial<PlayPlan>) => {
      const { learner, at, requests } = await learnerOf({ plan: plan(changes) });
      await learner.take();
      at.iteration = 2;
      await learner.take();
      return requests.map(({ label }) => label);
    };
    expect(await labels({})).toEqual(["2/test/1/e@1", "2/test/2/e@1"]);
    expect(await labels({ refills: 0 })).toEqual(["2/test/1/0/e@1", "2/test/2/0/e@1"]);
    expect(await labels({ refills: 1, accept: () => false })).toEqual([
      "2/test/1/0/e@1",
      "2/test/1/1/e@1",
      "2/test/2/0/e@1",
      "2/test/2/1/e@1",
    ]);
  });

  test("count entries of one environment from the second on", async () => {
    const environments = ["e@1", "f@1", "e@1", "e@1"].map((id) => environment(id));
    const { learner, requests } = await learnerOf({ plan: plan(), environments });
    await learner.take();
    expect(requests.map(({ label }) => label)).toEqual([
      "2/test/1/e@1",
      "2/test/1/f@1",
      "2/test/1/e@1#2",
      "2/test/1/e@1#3",
    ]);
  });
});

test("a batch that this process plays alone is taken with its last commit", async () => {
  const store = await openStore();
  const take = jest.spyOn(store, "take");
  const { learner } = await learnerOf({ plan: plan(), store, cohorts: 2 });
  expect(tasksOf((await learner.take()).groups)).toEqual([0, 1, 2, 3]);
  // The one call has found that the log lacks the batch.
  expect(take).toHaveBeenCalledTimes(1);
});

describe("refused groups", () => {
  test("numerics 22: a group that is too old is replaced by one of another task; ages count from the version at the take", async () => {
    const { rollouts, requests } = fakeRollouts((task) => (task === 1 || task === 2 ? 6 : 10));
    const { learner } = await learnerOf({ plan: plan({ refills: 1, maxStaleness: 2 }), rollouts });
    const { played, groups, refills, version } = await learner.take();
    expect([tasksOf(played), tasksOf(groups), refills, version]).toEqual([[0, 1, 2, 3, 4, 5], [0, 3, 4, 5], 1, 10]);
    expect(requests.map(({ tasks }) => tasks.length)).toEqual([4, 2]);
  });

  test("numerics 22: replacements that are too old as well are not sought for ever: the batch stays short, the take counts", async () => {
    const { learner } = await learnerOf({
      plan: plan({ refills: 2, maxStaleness: 2 }),
      rollouts: fakeRollouts(() => 0).rollouts,
    });
    const { played, groups, refills } = await learner.take();
    expect([played.length, groups, refills, learner.state().takes]).toEqual([12, [], 2, 1]);
  });

  test("accept gets the policy and its version, and no group that is too old", async () => {
    const asked: unknown[] = [];
    const accept: PlayPlan["accept"] = ({ task }, at) => (asked.push([task, at]), task !== "train/1");
    const { rollouts } = fakeRollouts((task) => (task === 0 ? 1 : 10));
    const { learner } = await learnerOf({ plan: plan({ groups: 2, refills: 1, maxStaleness: 0, accept }), rollouts });
    const { groups } = await learner.take();
    expect(tasksOf(groups)).toEqual([2, 3]);
    expect(asked).toEqual([1, 2, 3].map((task) => [`train/${task}`, { policy: "policy", version: 10 }]));
  });

  test("a batch that is judged in another way when it is taken again is an error", async () => {
    const store = await openStore();
    const judge = (refused: string) =>
      learnerOf({ plan: plan({ refills: 1, accept: ({ task }) => task !== refused }), store });
    await (await judge("train/1")).learner.take();
    const same = await (await judge("train/1")).learner.take();
    expect([tasksOf(same.groups), same.refills]).toEqual([[0, 2, 3, 4], 1]);
    await expect((await judge("train/2")).learner.take()).rejects.toMatchObject({
      code: "ALGORITHM_INVALID",
      message: expect.stringContaining("`accept` is no pure function"),
    });
  });

  test("without limits every group stays", async () => {
    const { learner } = await learnerOf({ plan: plan(), rollouts: fakeRollouts(() => 0).rollouts });
    const { played, groups, refills } = await learner.take();
    expect([groups, refills]).toEqual([played, 0]);
  });
});

describe("a take off the plan", () => {
  test.each<[string, Partial<PlayPlan> | undefined, number, RegExp]>([
    ["without a plan", undefined, 1, /test@1 takes a batch of episodes in iteration 1: its `plays` states no episodes/],
    ["between two takes", { every: 3 }, 2, /iteration 2: by its `plays` a batch is for the iterations 1, 4, .../],
    ["after the only one", { every: 0 }, 2, /iteration 2: by its `plays` a batch is for the first iteration only/],
  ])("is refused, %s", async (_, changes, iteration, message) => {
    const { learner, at, requests } = await learnerOf({ plan: changes && plan(changes) } as Setting);
    at.iteration = iteration;
    await expect(learner.take()).rejects.toMatchObject({
      code: "ALGORITHM_INVALID",
      message: expect.stringMatching(message),
    });
    expect(requests).toEqual([]);
  });

  test("is refused for the second one of an iteration, also while the first is under way", async () => {
    const { learner, at } = await learnerOf({ plan: plan({ every: 2 }) });
    const [, second] = await Promise.allSettled([learner.take(), learner.take()]);
    const refused = {
      code: "ALGORITHM_INVALID",
      message: expect.stringContaining("has taken the batch of this iteration"),
    };
    expect(second).toMatchObject({ status: "rejected", reason: refused });
    await expect(learner.take()).rejects.toMatchObject(refused);
    at.iteration = 3;
    expect((await learner.take()).groups).toHaveLength(4);
  });

  test("rejects with CANCELLED after a stop", async () => {
    const stop = new AbortController();
    const { learner } = await learnerOf({ plan: plan(), signal: stop.signal });
    stop.abort();
    await expect(learner.take()).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

test("numerics 52: a restored learner takes the batch that the saved one would have taken; a take that failed does not count", async () => {
  const environments = [environment("e@1", 2), environment("f@1")];
  const shape = { plan: plan({ refills: 0 }), environments };
  const { learner, at, requests } = await learnerOf(shape);
  await learner.take();
  const saved = JSON.parse(JSON.stringify(learner.state())) as StagePlayState;
  at.iteration = 2;
  await learner.take();
  const second = requests.slice(-2).map(({ label, tasks }) => [label, tasks]);
  const failing: GroupPlayer = {
    ...fakeRollouts().rollouts,
    collect: () => {
      throw new Error("gone");
    },
  };
  const broken = await learnerOf({ ...shape, rollouts: failing }, saved);
  broken.at.iteration = 2;
  await expect(broken.learner.take()).rejects.toThrow("gone");
  expect(broken.learner.state()).toEqual(saved);
  const restored = await learnerOf(shape, saved);
  restored.at.iteration = 2;
  await restored.learner.take();
  expect(restored.requests.map(({ label, tasks }) => [label, tasks])).toEqual(second);
});

test("a take commits under its own lease where an earlier stage met the lease of a killed process and other weights play now", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "mrlm-learner-")), "episodes.sqlite");
  const killed = await openStore(path);
  killed.commit = () => Promise.reject(new Error("killed"));
  const before = await learnerOf({ plan: plan(), stage: 3, store: killed });
  await expect(before.learner.take()).rejects.toThrow("killed");
  const store = await openStore(path);
  await (await learnerOf({ plan: plan(), stage: 2, store })).learner.take();
  const publish = async () => ({ versions: { policy: 11 }, checksum: "b" });
  const { groups } = await (await learnerOf({ plan: plan(), stage: 3, store, publish })).learner.take();
  expect(groups).toHaveLength(4);
});

test("seconds of play are divided by what episodes waited for; a batch is reported once", async () => {
  const { learner } = await learnerOf({ plan: plan() });
  expect(learner.lap()).toBeUndefined();
  await learner.take();
  const { sampling = 0, environment: waiting = 0 } = learner.lap()?.seconds ?? {};
  expect(sampling / waiting).toBeCloseTo(3, 6);
  expect(learner.lap()).toBeUndefined();
});

test("cohorts divide a take and change no group: tasks that occur twice keep their occurrences", async () => {
  const host = await localHost(counterEnvironment());
  const rollouts = await runner({ host });
  const [few] = [{ ...environment("counter@1"), splits: { train: 3 } }];
  const play = async (cohorts: number) => {
    const { learner } = await learnerOf({
      plan: plan({ groups: 8 }),
      environments: [few as TrainingEnvironment],
      rollouts,
      cohorts,
    });
    return (await learner.take()).played;
  };
  const [whole, divided] = [await play(1), await play(3)];
  expect(divided.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
  expect(new Set(divided.map(({ id }) => id)).size).toBe(8);
  expect(divided.map(({ trajectories }) => trajectories[0]?.seed)).toEqual(
    whole.map(({ trajectories }) => trajectories[0]?.seed),
  );
  await host.close();
});

describe("credits", () => {
  const taken = async () => {
    const { learner } = await learnerOf({ plan: plan({ accept: ({ task }) => task !== "train/1" }) });
    await learner.take();
    return learner;
  };
  const credit = (task: number) => ({ trajectory: `2/test/1/e@1/train/${task}/0`, agent: "agent", advantage: 1 });

  test("of accepted episodes are taken, and those of a later report too", async () => {
    const learner = await taken();
    await learner.settle("policy", [
      credit(0),
      { ...credit(2), advantage: Float32Array.of(1), logprobs: Float32Array.of(-1) },
    ]);
    await learner.settle("policy", [credit(0)]);
  });

  test.each([
    ["of a refused group", [credit(1)], /train\/1\/0, which is no learnable part/],
    ["of another batch", [credit(9)], /train\/9\/0, which is no learnable part/],
    ["of another agent", [{ ...credit(0), agent: "other" }], /agent "other".*no learnable part/],
    ["twice for one part", [credit(0), credit(0)], /and a second one/],
    [
      "with numbers of another episode",
      [{ ...credit(0), advantage: new Float32Array(2) }],
      /2 numbers for 1 learnt tokens/,
    ],
    [
      "with too few log-probabilities",
      [{ ...credit(0), logprobs: new Float32Array() }],
      /0 numbers for 1 learnt tokens/,
    ],
  ])("%s are refused", async (_, credits, message) => {
    const learner = await taken();
    await expect(learner.settle("policy", credits)).rejects.toMatchObject({
      code: "ALGORITHM_INVALID",
      message: expect.stringMatching(message),
    });
  });

  test("before any batch was taken are refused, with the algorithm's name", async () => {
    const { learner } = await learnerOf({ plan: plan() });
    await expect(learner.settle("policy", [credit(0)])).rejects.toThrow(/test@1.*no learnable part/);
  });
});

test("numerics 20, 32: parts that may have credits are those that are learnt from, with their numbers of tokens", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          mask: fc.array(fc.constantFrom(0, 1), { maxLength: 4 }),
          logprob: fc.constantFrom(-1, Number.NaN, -Infinity),
          isScored: fc.boolean(),
          isFailed: fc.boolean(),
          policy: fc.constantFrom("policy", "other"),
        }),
        { maxLength: 6 },
      ),
      (episodes) => {
        const trajectories = episodes.map(({ mask, logprob, isScored, isFailed, policy }, i): Trajectory => {
          const segment = {
            tokens: new Int32Array(mask.length),
            logprobs: Float32Array.from(mask, (_, t) => (t === 1 ? logprob : -1)),
            mask: Uint8Array.from(mask),
            versions: new Int32Array(mask.length),
            parent: null,
          };
          const part = {
            role: "agent",
            player: { kind: "policy" as const, name: policy, policy },
            segments: [segment, segment],
            total: isScored ? score(1) : unscored("JUDGE_FAILED", "down"),
            end: { terminated: true, truncated: false },
          };
          return {
            ...{ id: String(i), environment: "e@1", task: "train/0", seed: 0, group: "g", member: i, turns: [] },
            agents: { agent: part },
            ...(isFailed ? { error: { code: "ENVIRONMENT_FAILED", message: "gone" } } : {}),
            seconds: { sampling: 0, environment: 0 },
          };
        });
        const learnt = trajectories.flatMap((trajectory) =>
          learnableEpisodes(trajectory, { policy: "policy", dropCut: false }, noEpisodeCounts()),
        );
        const parts = learnableParts([{ id: "g", task: "train/0", players: {}, trajectories }], "policy");
        expect([...parts]).toEqual(
          learnt.map(({ trajectory, agent, sampled }) => [JSON.stringify([trajectory.id, agent]), sampled.length]),
        );
      },
    ),
  );
});

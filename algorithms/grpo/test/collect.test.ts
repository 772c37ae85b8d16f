import { describe, expect, test } from "@jest/globals";
import type { AlgorithmContext, TaskId, TrajectoryGroup } from "@mrlm/spec";
import type { TaskOrder } from "@mrlm/kit/learning";
import { collect } from "../src/collect.ts";
import { episode, group, options, segment } from "./support/groups.ts";

/** Returns tasks in order, and groups that were sampled with the weight versions given for their tasks. */
function rollouts(
  versionOf: (task: number) => number,
  rewardsOf: (task: number) => readonly number[] = () => [1, 0],
): { readonly context: AlgorithmContext; readonly order: TaskOrder; readonly labels: string[] } {
  const labels: string[] = [];
  let next = 0;
  const order: TaskOrder = {
    take: (count) => [
      {
        environment: { ref: { id: "test@1" } } as never,
        tasks: Array.from({ length: count }, (): TaskId => `train/${next++}`),
      },
    ],
    state: () => ({}),
    restore: () => undefined,
  };
  async function* play({
    tasks,
    label,
  }: {
    readonly tasks: readonly TaskId[];
    readonly label: string;
  }): AsyncGenerator<TrajectoryGroup> {
    labels.push(label);
    for (const task of tasks) {
      const index = Number(task.split("/")[1]);
      const sampled = [segment([0, 1], { versions: Int32Array.of(-1, versionOf(index)) })];
      yield { ...group(...rewardsOf(index).map((reward) => episode(reward, {}, sampled))), task };
    }
  }
  const context = {
    environments: [],
    rollouts: { collect: play },
    policy: "policy",
    sampling: { maxTokens: 8 },
    signal: new AbortController().signal,
  } as unknown as AlgorithmContext;
  return { context, order, labels };
}

describe("collecting a batch", () => {
  test("numerics 22: a group that is too old is counted, left out, and replaced by one of another task", async () => {
    // Tasks 1 and 2 lag four versions behind.
    const { context, order, labels } = rollouts((task) => (task === 1 || task === 2 ? 6 : 10));
    const found = await collect(
      context,
      options({ prompts_per_step: 4, group_size: 2, max_staleness: 2 }),
      order,
      1,
      10,
    );
    expect(found).toMatchObject({ refills: 1, counts: { stale: 4 } });
    expect(found.samples.map(({ episodes }) => episodes.map(({ age }) => age))).toEqual(Array(4).fill([0, 0]));
    expect(found.groups.map(({ task }) => task)).toEqual([0, 1, 2, 3, 4, 5].map((task) => `train/${task}`));
    // Two batches of a stage never share their randomness.
    expect(labels).toEqual(["grpo/1/0/test@1", "grpo/1/1/test@1"]);
  });

  test("numerics 22: replacements that are too old as well are not sought for ever", async () => {
    const { context, order } = rollouts(() => 0);
    const found = await collect(context, options({ prompts_per_step: 2, max_staleness: 2 }), order, 1, 10);
    expect([found.refills, found.samples, found.counts.stale]).toEqual([1, [], 8]);
  });

  test("M2: batch_std is the deviation of the whole batch, not of each refill", async () => {
    const rewards = [
      [1, 0],
      [1, 1],
      [1, 1],
      [10, 0],
      [1, 0],
    ];
    const { context, order } = rollouts(
      () => 10,
      (task) => rewards[task] as number[],
    );
    const found = await collect(
      context,
      options({ prompts_per_step: 3, group_size: 2, dynamic_sampling: 3, scale: "batch_std" }),
      order,
      1,
      10,
    );
    expect(found.refills).toBe(1);
    const advantages = found.samples.map(({ episodes }) => episodes.map(({ advantage }) => advantage.toFixed(2)));
    expect(advantages).toEqual([
      ["0.16", "-0.16"],
      ["1.57", "-1.57"],
      ["0.16", "-0.16"],
    ]);
  });

  test("M2: a group that is too old is in no standard deviation of the batch", async () => {
    const rewards = [
      [1, 0],
      [100, 0],
      [1, 0],
    ];
    const { context, order } = rollouts(
      (task) => (task === 1 ? 0 : 10),
      (task) => rewards[task] as number[],
    );
    const found = await collect(
      context,
      options({ prompts_per_step: 2, group_size: 2, max_staleness: 2, scale: "batch_std" }),
      order,
      1,
      10,
    );
    const expected = 0.5 / (Math.sqrt(1 / 3) + 1e-4);
    expect(found.samples.map(({ episodes }) => episodes.map(({ advantage }) => advantage.toFixed(6)))).toEqual(
      Array(2).fill([expected.toFixed(6), (-expected).toFixed(6)]),
    );
  });

  test("without a limit of age every group stays", async () => {
    const { context, order } = rollouts(() => 0);
    const found = await collect(context, options({ prompts_per_step: 2 }), order, 1, 10);
    expect([found.refills, found.samples.length]).toEqual([0, 2]);
  });
});

import { expect, test } from "@jest/globals";
import { duelEnvironment, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { grpo } from "../src/index.ts";

const DECAY = 0.5;
const training = {
  algorithms: [grpo],
  environments: [duelEnvironment()],
  stages: [
    {
      algorithm: "grpo",
      steps: 4,
      prompts_per_step: 8,
      group_size: 1,
      baseline: "role_average",
      baseline_decay: DECAY,
      scale: "none",
      learning_rate: 0.2,
    },
  ],
};

test("in self-play each advantage is the reward minus the average of the role over earlier batches", async () => {
  const { reports, played } = await trainBigram(training);
  /** Means of the batches so far, by role. */
  const means = new Map<string, number[]>([
    ["first", []],
    ["second", []],
  ]);
  const baseline = (role: string): number => {
    const past = means.get(role) as number[];
    const weights = past.map((_, i) => (1 - DECAY) * DECAY ** (past.length - 1 - i));
    const weight = weights.reduce((sum, each) => sum + each, 0);
    return weight === 0 ? 0 : past.reduce((sum, each, i) => sum + each * (weights[i] as number), 0) / weight;
  };
  let compared = 0;
  let moved = 0;
  for (const [i, groups] of played.entries()) {
    const parts = groups.flatMap(({ trajectories }) =>
      trajectories.flatMap(({ id, agents }) =>
        Object.entries(agents).map(([agent, { role, total }]) => ({
          key: `${id} ${agent}`,
          role,
          reward: total.scored ? total.value : Number.NaN,
        })),
      ),
    );
    for (const { trajectory, agent, advantage } of reports[i]?.credits ?? []) {
      const { role, reward } = parts.find(({ key }) => key === `${trajectory} ${agent}`) as (typeof parts)[number];
      expect(advantage).toBeCloseTo(reward - baseline(role), 10);
      if (baseline(role) !== 0) moved++;
      compared++;
    }
    for (const [role, past] of means) {
      const rewards = parts.filter((part) => part.role === role).map(({ reward }) => reward);
      past.push(rewards.reduce((sum, each) => sum + each, 0) / rewards.length);
    }
  }
  expect(compared).toBe(4 * 8 * 2);
  expect(moved).toBeGreaterThan(30);
  // The game is zero-sum: the averages of the roles are opposite.
  expect(baseline("first")).toBeCloseTo(-baseline("second"), 10);
});

test("the averages are in checkpoints: a killed run has the bits of the undisturbed one", async () => {
  const whole = await trainBigram(training);
  const resumed = await trainBigramInterrupted(training, 3);
  expect(resumed.weights).toEqual(whole.weights);
  // Without averages of earlier batches the third update would be another one.
  expect(resumed.reports.at(-1)?.credits).toEqual(whole.reports.at(-1)?.credits);
});

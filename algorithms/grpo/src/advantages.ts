import { standardDeviation } from "@mrlm/kit/learning";

/** Added to standard deviations, in the units of the reward. */
const STD_EPSILON = 1e-4;

/** Baseline that is subtracted from the rewards of a group. */
export type Baseline = "group_mean" | "leave_one_out" | "role_average";

/** Divisor of the advantages. */
export type Scale = "none" | "group_std" | "batch_std";

/**
 * Returns the advantages of the episodes of each group (arXiv 2402.03300; without the division arXiv 2503.20783; leave-one-out arXiv
 * 2402.14740; batch_std arXiv 2501.03262):
 *
 *     group_mean      A_i = r_i - mean(r)                 leave_one_out   A_i = r_i - mean(r without r_i)
 *     role_average    A_i = r_i - average of the role
 *     group_std       A_i / (std(r) + 1e-4)               batch_std       A_i / (std of all A + 1e-4)
 *
 * Standard deviations have n - 1 in the denominator. A group whose rewards are all equal, and so every group of one, gets exactly 0, except with
 * `role_average`.
 *
 * @param groups rewards by group, of any sizes
 * @param averages the average of the role, by group; read with `role_average` alone
 * @returns advantages in the same shape
 */
export function groupAdvantages(
  groups: readonly (readonly number[])[],
  baseline: Baseline,
  scale: Scale,
  averages: readonly number[] = [],
): number[][] {
  const centred = groups.map((rewards, g) =>
    baseline === "role_average" ? rewards.map((reward) => reward - (averages[g] as number)) : centre(rewards, baseline),
  );
  if (scale === "none") return centred;
  if (scale === "group_std") {
    return centred.map((advantages, g) => {
      const deviation = standardDeviation(groups[g] as readonly number[]);
      return advantages.map((advantage) => advantage / (deviation + STD_EPSILON));
    });
  }
  const deviation = standardDeviation(centred.flat());
  return centred.map((advantages) => advantages.map((advantage) => advantage / (deviation + STD_EPSILON)));
}

/** Whether two rewards of the group differ. Otherwise all advantages of the group are 0. */
export function hasSignal(rewards: readonly number[]): boolean {
  return rewards.some((reward) => reward !== rewards[0]);
}

function centre(rewards: readonly number[], baseline: Exclude<Baseline, "role_average">): number[] {
  if (!hasSignal(rewards)) return rewards.map(() => 0);
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  const n = rewards.length;
  return rewards.map((reward) => reward - (baseline === "group_mean" ? sum / n : (sum - reward) / (n - 1)));
}

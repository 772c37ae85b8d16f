import { LOG_RATIO_LIMIT, standardDeviation } from "@mrlm/kit/learning";

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

/** Options of distillation. */
export interface DistillOptions {
  readonly distill_coefficient: number;
  readonly reward_coefficient: number;
}

/**
 * Returns the advantages of the tokens of an episode: that of its reward, and the log-ratio of the teacher to the old policy at the token that was sampled,
 * d_t = log π_T - old_t cut to ±10. Its negative estimates KL(π_old‖π_T) of the token; the policy gradient with it is that of the reverse divergence, whose sum over later
 * tokens is left out (a discount of 0; on-policy distillation, arXiv 2306.13649, arXiv 2306.08543):
 *
 *     A_t = λ A + α d_t
 *
 * @param teacher log-probabilities in nats, shape [tokens]; absent without distillation
 * @returns the advantage of the episode itself without a teacher
 */
export function distilledAdvantage(
  advantage: number,
  old: Float32Array,
  teacher: Float32Array | undefined,
  { distill_coefficient: coefficient, reward_coefficient: share }: DistillOptions,
): number | Float64Array {
  if (teacher === undefined || coefficient === 0) return advantage;
  return Float64Array.from(old, (logprob, t) => {
    const ratio = Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, (teacher[t] as number) - logprob));
    return share * advantage + coefficient * ratio;
  });
}

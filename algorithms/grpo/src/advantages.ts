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
 * Several agents of a role in one episode are one member of the group: means are over members, of the mean of its agents. Standard deviations have n - 1 in the denominator. A group whose rewards are all equal, and so every group of one, gets exactly 0, except with
 * `role_average`.
 *
 * @param groups rewards by group, of any sizes
 * @param averages the average of the role, by group; read with `role_average` alone
 * @param members member of each reward, by group; default: each reward is one
 * @returns advantages in the same shape
 */
export function groupAdvantages(
  groups: readonly (readonly number[])[],
  baseline: Baseline,
  scale: Scale,
  averages: readonly number[] = [],
  members: readonly (readonly unknown[])[] = [],
): number[][] {
  const centred = groups.map((rewards, g) =>
    baseline === "role_average"
      ? rewards.map((reward) => reward - (averages[g] as number))
      : centre(rewards, baseline, members[g] ?? rewards.keys().toArray()),
  );
  if (scale === "none") return centred;
  if (scale === "group_std") {
    return centred.map((advantages, g) => {
      const deviation = standardDeviation(groups[g] as readonly number[]);
      return advantages.map((advantage) => advantage / (deviation + STD_EPSILON));
    });
  }
  return dividedByDeviation(centred);
}

/** Divides advantages by the standard deviation of all of them plus 1e-4. */
export function dividedByDeviation(centred: readonly (readonly number[])[]): number[][] {
  const deviation = standardDeviation(centred.flat());
  return centred.map((advantages) => advantages.map((advantage) => advantage / (deviation + STD_EPSILON)));
}

/** Whether two rewards of the group differ. Otherwise all advantages of the group are 0. */
export function hasSignal(rewards: readonly number[]): boolean {
  return rewards.some((reward) => reward !== rewards[0]);
}

/** Returns the mean reward of each member. */
export function memberMeans<M>(rewards: readonly number[], members: readonly M[]): Map<M, number> {
  const own = Map.groupBy(rewards.keys(), (i) => members[i] as M);
  const mean = (of: readonly number[]): number => of.reduce((sum, i) => sum + (rewards[i] as number), 0) / of.length;
  return new Map([...own].map(([member, of]) => [member, mean(of)]));
}

function centre(
  rewards: readonly number[],
  baseline: Exclude<Baseline, "role_average">,
  members: readonly unknown[],
): number[] {
  if (!hasSignal(rewards)) return rewards.map(() => 0);
  const means = memberMeans(rewards, members);
  // The agents of a single member are compared with one another.
  if (means.size === 1) return centre(rewards, baseline, rewards.keys().toArray());
  const sum = [...means.values()].reduce((total, mean) => total + mean, 0);
  const n = means.size;
  const baselineOf = (i: number): number =>
    baseline === "group_mean" ? sum / n : (sum - (means.get(members[i]) as number)) / (n - 1);
  return rewards.map((reward, i) => reward - baselineOf(i));
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
 * @param advantage of the episode, or of each of its tokens
 * @returns the advantage itself without a teacher
 */
export function distilledAdvantage(
  advantage: number | Float64Array,
  old: Float32Array,
  teacher: Float32Array | undefined,
  { distill_coefficient: coefficient, reward_coefficient: share }: DistillOptions,
): number | Float64Array {
  if (teacher === undefined || coefficient === 0) return advantage;
  return Float64Array.from(old, (logprob, t) => {
    const ratio = Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, (teacher[t] as number) - logprob));
    return share * (typeof advantage === "number" ? advantage : (advantage[t] as number)) + coefficient * ratio;
  });
}

import { LOG_RATIO_LIMIT } from "@mrlm/kit/learning";

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

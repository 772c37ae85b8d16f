import { MrlmError, type RolloutSampling } from "@mrlm/spec";

/**
 * Throws CONFIG_INVALID for sampling that cuts the distribution (`top_p`, `top_k`). Its log-probabilities are those of the cut distribution, and the trainer's
 * those of the whole one: their ratio would differ from 1 before anything is learnt.
 */
export function assertWholeDistribution({ topP = 1, topK = 0 }: RolloutSampling): void {
  if (topP >= 1 && topK <= 0) return;
  throw new MrlmError("CONFIG_INVALID", "sampling.top_p or top_k cuts the distribution: the trainer's log-probabilities would be those of another one.", {
    hint: "Train with the full distribution and leave top_p and top_k to evaluation.",
  });
}

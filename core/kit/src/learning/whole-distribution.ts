import { MrlmError, type RolloutSampling } from "@mrlm/spec";

/**
 * Throws CONFIG_INVALID for sampling from a truncated distribution. `top_p` and `top_k`: the sampler records log-probabilities of the truncated distribution
 * and training computes those of the whole one, so that their ratio differs from 1 before the first update. `min_tokens`: tokens are drawn without the stop
 * tokens, and both log-probabilities include these, so that the gradient is not that of the sampled policy.
 */
export function assertWholeDistribution({ topP = 1, topK = 0, minTokens = 0 }: RolloutSampling): void {
  if (minTokens > 0)
    throw new MrlmError(
      "CONFIG_INVALID",
      `sampling.min_tokens (${minTokens}) forbids stop tokens: tokens are drawn from a distribution that the trainer's log-probabilities are not of.`,
      {
        hint: "Train without min_tokens and leave it to evaluation; to train on long answers reward their length. For answers of one length (benchmarks) set sampling.ignore_stop.",
      },
    );
  if (topP >= 1 && topK <= 0) return;
  throw new MrlmError(
    "CONFIG_INVALID",
    "sampling.top_p or top_k cuts the distribution: the trainer's log-probabilities would be those of another one.",
    {
      hint: "Train with the full distribution and leave top_p and top_k to evaluation.",
    },
  );
}

import type { EngineUnit, UnitGradients } from "@mrlm/spec";
import type { TargetSequence } from "./target-sequence.ts";

/** A batch with the gradient of its loss, which is known before any forward pass. */
export interface SftBatch {
  /** One sequence each, those without a target left out. */
  readonly units: readonly EngineUnit[];
  readonly gradients: readonly UnitGradients[];
  readonly normalizer: number;
  /** Tokens that are learnt from. */
  readonly targetTokens: number;
  /** For each unit: 1 on each target that is an observation. */
  readonly observed: readonly Uint8Array[];
}

/** How token losses become one number; formulas in the README. */
export type Aggregation = "token_mean" | "sequence_mean";

/**
 * Negative log-likelihood of the targets, w_it their weights and W_i their sum over sequence i:
 *
 *     token_mean     L = - Σ_i Σ_t w_it logp_it / Σ_i W_i           dL/dlogp_it = -w_it / Σ W_i
 *     sequence_mean  L = - 1/N Σ_i (1/W_i) Σ_t w_it logp_it         dL/dlogp_it = -w_it / (N W_i)
 *
 * The normalizer (Σ W_i, or N) goes to the engine beside the gradients.
 */
export function sftBatch(sequences: readonly TargetSequence[], aggregation: Aggregation): SftBatch {
  const learnable = sequences
    .filter(({ weights }) => weights.length > 0)
    .map((sequence) => ({ ...sequence, total: sequence.weights.reduce((sum, weight) => sum + weight, 0) }));
  return {
    units: learnable.map(({ tokens, mask }) => ({ sequences: [{ tokens, mask }] })),
    gradients: learnable.map(({ weights, total }) => ({
      logprob: weights.map((weight) => (aggregation === "token_mean" ? -weight : -weight / total)),
    })),
    normalizer: aggregation === "token_mean" ? learnable.reduce((sum, { total }) => sum + total, 0) : learnable.length,
    targetTokens: learnable.reduce((sum, { weights }) => sum + weights.length, 0),
    observed: learnable.map(({ observed }) => observed),
  };
}

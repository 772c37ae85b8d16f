import type { EngineUnit, UnitGradients } from "@mrlm/kit/learning";
import type { TargetSequence } from "./target-sequence.ts";

/** A batch with the gradient of its loss, which is known before the forward pass. */
export interface SftBatch {
  /** Units of one sequence each. Sequences without a target are left out. */
  readonly units: readonly EngineUnit[];
  readonly gradients: readonly UnitGradients[];
  readonly normalizer: number;
  /** Number of target tokens. */
  readonly targetTokens: number;
  /** For each unit: 1 at each target that is an observation. */
  readonly observed: readonly Uint8Array[];
}

/** Rule that combines the losses of tokens into the loss of a batch. */
export type Aggregation = "token_mean" | "sequence_mean";

/**
 * Computes the negative log-likelihood of the targets, with weights w_it and their sum W_i over sequence i:
 *
 *     token_mean     L = - Σ_i Σ_t w_it logp_it / Σ_i W_i           dL/dlogp_it = -w_it / Σ W_i
 *     sequence_mean  L = - 1/N Σ_i (1/W_i) Σ_t w_it logp_it         dL/dlogp_it = -w_it / (N W_i)
 *
 * The engine divides the gradients by the normalizer (Σ W_i, or N).
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

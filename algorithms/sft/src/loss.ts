import type { EngineUnit, SupervisedSequence, UnitGradients } from "@mrlm/spec";

/** A batch with the gradient of its loss, which is known before any forward pass. */
export interface SftBatch {
  readonly units: readonly EngineUnit[];
  readonly gradients: readonly UnitGradients[];
  readonly normalizer: number;
  /** Tokens that are learnt from. */
  readonly targetTokens: number;
}

/** How token losses become one number; formulas in the README. */
export type Aggregation = "token_mean" | "sequence_mean";

/**
 * Negative log-likelihood of the chosen tokens:
 *
 *     token_mean     L = - Σ_i Σ_t logp_it / Σ_i n_i           dL/dlogp_it = -1 / Σ n_i
 *     sequence_mean  L = - 1/N Σ_i (1/n_i) Σ_t logp_it         dL/dlogp_it = -1 / (N n_i)
 *
 * where n_i is the number of chosen tokens of sequence i. The normalizer (Σ n_i, or N) goes to the engine beside the gradients.
 */
export function sftBatch(sequences: readonly SupervisedSequence[], aggregation: Aggregation): SftBatch {
  const learnable = sequences.map((sequence) => ({ ...sequence, targets: countTargets(sequence.mask) })).filter(({ targets }) => targets > 0);
  const targetTokens = learnable.reduce((sum, { targets }) => sum + targets, 0);
  return {
    units: learnable.map(({ tokens, mask }) => ({ sequences: [{ tokens, mask }] })),
    gradients: learnable.map(({ targets }) => ({ logprob: new Float32Array(targets).fill(aggregation === "token_mean" ? -1 : -1 / targets) })),
    normalizer: aggregation === "token_mean" ? targetTokens : learnable.length,
    targetTokens,
  };
}

function countTargets(mask: Uint8Array): number {
  return mask.reduce((sum, bit) => sum + bit, 0);
}

/** Coefficient of the divergence from the reference. */
export interface KlController {
  readonly coefficient: number;
  /** @param divergence mean divergence of an episode, in nats */
  update(divergence: number, episodes: number): void;
  restore(coefficient: number): void;
}

/**
 * Creates a fixed coefficient or, with a target, an adaptive one (arXiv 1909.08593, section 2.2): after n episodes
 * β ← β (1 + clip(KL/target - 1, -0.2, 0.2) · n/horizon).
 */
export function klController(options: {
  readonly kl_coefficient: number;
  readonly kl_target?: number | undefined;
  readonly kl_horizon: number;
}): KlController {
  const { kl_target: target, kl_horizon: horizon } = options;
  let coefficient = options.kl_coefficient;
  return {
    get coefficient() {
      return coefficient;
    },
    update(divergence, episodes) {
      if (target === undefined) return;
      const error = Math.max(-0.2, Math.min(0.2, divergence / target - 1));
      coefficient *= Math.max(0, 1 + (error * episodes) / horizon);
    },
    restore(saved) {
      coefficient = saved;
    },
  };
}

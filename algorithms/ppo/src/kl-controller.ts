/** How strongly the divergence from the reference is charged. */
export interface KlController {
  readonly coefficient: number;
  /** @param divergence mean of an episode, in nats */
  update(divergence: number, episodes: number): void;
  restore(coefficient: number): void;
}

/**
 * Fixed, or with a target adaptive (arXiv 1909.08593, section 2.2): β ← β (1 + clip(KL/target - 1, -0.2, 0.2) · n/horizon) after n
 * episodes.
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

/** Bound of log-ratios before the exponential: e^10 is far outside of every clip range. */
export const LOG_RATIO_LIMIT = 10;

/** Bounds of the clipped surrogate. */
export interface ClipOptions {
  readonly clip_low: number;
  readonly clip_high: number;
  readonly dual_clip?: number | undefined;
}

/** Returns exp(logp - old), with the difference clipped to ±10. */
export function ratioOf(logprob: number, old: number): number {
  return Math.exp(Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logprob - old)));
}

/** Returns the derivative of {@link ratioOf} with respect to logp: the ratio itself, and 0 beyond the bound. */
export function ratioSlope(logprob: number, old: number): number {
  return Math.abs(logprob - old) > LOG_RATIO_LIMIT ? 0 : ratioOf(logprob, old);
}

/**
 * Returns the clipped surrogate of PPO (arXiv 1707.06347) at a ratio r, as a loss, and its derivative with respect to r (0 where it is clipped):
 *
 *     l = -min(r A, clip(r, 1-ε_low, 1+ε_high) A)       for A < 0 no more than -c A with dual_clip c (arXiv 1912.09729)
 */
export function clippedSurrogate(
  ratio: number,
  advantage: number,
  { clip_low, clip_high, dual_clip }: ClipOptions,
): { loss: number; slope: number } {
  const bounded = Math.max(1 - clip_low, Math.min(1 + clip_high, ratio));
  const free = -ratio * advantage;
  const held = -bounded * advantage;
  const worst = dual_clip !== undefined && advantage < 0 ? -dual_clip * advantage : Number.POSITIVE_INFINITY;
  if (free >= held) return free > worst ? { loss: worst, slope: 0 } : { loss: free, slope: -advantage };
  return { loss: Math.min(held, worst), slope: 0 };
}

/**
 * Returns the length penalty of DAPO (arXiv 2503.14476, eq. 13), added to the reward. It is 0 up to `limit - buffer` tokens and falls linearly to
 * -penalty at the limit.
 */
export function overlongPenalty(tokens: number, limit: number, buffer: number, penalty: number): number {
  if (buffer === 0) return 0;
  const over = Math.max(0, tokens - (limit - buffer));
  return -penalty * Math.min(1, over / buffer);
}

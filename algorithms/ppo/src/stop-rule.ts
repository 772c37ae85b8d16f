import type { PpoMetrics } from "./metrics.ts";

/**
 * Returns a function to call before each update. It returns true if the mean of k3 between old and current policy, over the tokens of the latest update,
 * is above `stop_kl`.
 */
export function stopRule(
  { stop_kl: limit }: { readonly stop_kl?: number | undefined },
  metrics: PpoMetrics,
): () => boolean {
  let before = metrics.moved;
  return () => {
    const { sum, count } = metrics.moved;
    const moved = (sum - before.sum) / (count - before.count);
    before = { sum, count };
    return limit !== undefined && moved > limit;
  };
}

import type { PpoMetrics } from "./metrics.ts";

/**
 * Tells before each update whether the updates so far have moved the policy too far: the mean of k3 between old and present policy over the tokens of the
 * latest update was above `stop_kl`.
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

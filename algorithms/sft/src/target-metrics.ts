import type { Mean, Metrics, UnitOutputs } from "@mrlm/kit/learning";
import type { SftBatch } from "./loss.ts";

/**
 * Returns the metrics of the targets of a step, independent of their weights and the aggregation. Metrics of actions, or of
 * observations, are absent where the batch has none.
 */
export function targetMetrics(
  { units, observed }: SftBatch,
  outputs: readonly UnitOutputs[],
  stopTokenIds: readonly number[],
): Metrics {
  const kinds = [0, 1].map(() => ({ nll: 0, entropy: 0, tokens: 0 }));
  let [conversations, cut] = [0, 0];
  for (const [unit, { logprob = new Float32Array(), entropy }] of outputs.entries()) {
    for (const [t, value] of logprob.entries()) {
      const sums = kinds[observed[unit]?.[t] as 0 | 1] as (typeof kinds)[number];
      sums.nll -= value;
      sums.entropy += entropy?.[t] ?? 0;
      sums.tokens++;
    }
    const last = lastAction(units[unit] as SftBatch["units"][number], observed[unit] as Uint8Array);
    if (last === undefined) continue;
    conversations++;
    cut += Number(!stopTokenIds.includes(last));
  }
  const [actions, observations] = kinds as [(typeof kinds)[number], (typeof kinds)[number]];
  const mean = (sum: number, count: number): Mean => ({ sum, count });
  return {
    ...(actions.tokens > 0
      ? {
          "loss/nll": mean(actions.nll, actions.tokens),
          entropy: mean(actions.entropy, actions.tokens),
          "length/mean": mean(actions.tokens, conversations),
          "length/cut_targets": mean(cut, conversations),
        }
      : {}),
    ...(observations.tokens > 0
      ? {
          "loss/nll_observed": mean(observations.nll, observations.tokens),
          entropy_observed: mean(observations.entropy, observations.tokens),
        }
      : {}),
  };
}

/** Returns the last target token that is an action. */
function lastAction({ sequences }: SftBatch["units"][number], observed: Uint8Array): number | undefined {
  const targets = sequences.flatMap(({ tokens, mask }) => Array.from(tokens).filter((_, t) => mask[t] === 1));
  return targets[observed.lastIndexOf(0)];
}

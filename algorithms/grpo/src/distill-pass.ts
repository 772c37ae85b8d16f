import type { AlgorithmContext, EngineUnit, Mean } from "@mrlm/kit/learning";
import { tokenWeight } from "./aggregation.ts";
import type { GrpoSettings } from "./options.ts";
import type { GroupSample } from "./samples.ts";
import { tokenDivergence } from "./token-divergence.ts";

/** Divergence of the policy from its teacher over the tokens of some groups. */
export interface Distilled {
  /** In nats a token. */
  readonly divergence: Mean;
  readonly computedTokens: number;
}

/**
 * Adds the gradient of the teacher's term to what the next optimizer step applies: α w_t D_t for each sampled token, where D_t is the divergence at its position over
 * the `distill_top_k` most likely tokens of the policy and the rest, or over all tokens. Each D_t is exact: no token is sampled for it. The states are those of the
 * episodes, as constants.
 */
export async function distillPass(
  context: AlgorithmContext,
  options: GrpoSettings & { readonly distill_top_k: number | "all" },
  groups: readonly GroupSample[],
  units: readonly EngineUnit[],
  normalizer: number,
): Promise<Distilled> {
  const { engine, policy, signal } = context;
  const { temperature } = context.sampling;
  const pass = { temperature, signal };
  const targeted = await withTargets(context, units, options.distill_top_k);
  const model = await context.reference();
  const teacher = await engine.forward({ ...pass, model, units: targeted, outputs: { logprob: true } });
  let sum = 0;
  let count = 0;
  const { computedTokens } = await engine.forwardBackward({
    ...pass,
    model: policy,
    units: targeted,
    outputs: { logprob: true },
    normalizer,
    loss(unit, outputs) {
      const logprob = outputs.logprob as Float32Array;
      const theirs = teacher[unit]?.logprob as Float32Array;
      const weights = (groups[unit] as GroupSample).episodes.flatMap((episode) =>
        Array.from(episode.sampled, () => options.distill_coefficient * tokenWeight(episode, options.aggregation)),
      );
      const each = logprob.length / weights.length;
      const gradient = new Float32Array(logprob.length);
      for (const [t, weight] of weights.entries()) {
        const [start, end] = [t * each, (t + 1) * each];
        const { value, slopes } = tokenDivergence(logprob.subarray(start, end), theirs.subarray(start, end));
        sum += value;
        gradient.set(
          slopes.map((slope) => weight * slope),
          start,
        );
      }
      count += weights.length;
      return { logprob: gradient };
    },
  });
  return { divergence: { sum, count }, computedTokens };
}

/** Returns the units with the tokens of the divergence as targets of each position. */
async function withTargets(
  { engine, policy, sampling, signal }: AlgorithmContext,
  units: readonly EngineUnit[],
  topK: number | "all",
): Promise<EngineUnit[]> {
  const { models } = await engine.describe();
  const vocabulary = models.find(({ model }) => model === policy)?.vocabSize as number;
  const all = Int32Array.from({ length: vocabulary }, (_, token) => token);
  const each = topK === "all" ? vocabulary : Math.min(topK, vocabulary);
  const found =
    each === vocabulary
      ? []
      : await engine.forward({
          model: policy,
          units,
          outputs: { top: each },
          temperature: sampling.temperature,
          signal,
        });
  return units.map(({ sequences }, unit) => {
    let start = 0;
    return {
      sequences: sequences.map(({ tokens, mask }) => {
        const size = each * mask.reduce((sum, chosen) => sum + chosen, 0);
        start += size;
        const targets =
          found[unit]?.topTokens?.slice(start - size, start) ??
          Int32Array.from({ length: size }, (_, i) => all[i % vocabulary] as number);
        return { tokens, mask, targets };
      }),
    };
  });
}

/** Returns the groups with their advantages times the weight of the reward. */
export function rewardedAlone(groups: readonly GroupSample[], share: number): GroupSample[] {
  return groups.map((group) => ({
    ...group,
    episodes: group.episodes.map((episode) => ({ ...episode, advantage: times(episode.advantage, share) })),
  }));
}

function times<A extends number | Float64Array>(advantage: A, share: number): A {
  return (typeof advantage === "number" ? share * advantage : advantage.map((each) => share * each)) as A;
}

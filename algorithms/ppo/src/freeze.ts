import type { AlgorithmContext, EngineUnit, ModelId, OutputSelection, UnitOutputs } from "@mrlm/spec";
import { byEpisode, type FrozenEpisode, type PpoEpisode, unitOf } from "./batch.ts";
import { generalizedAdvantages, whiten } from "./gae.ts";
import type { PpoOptions } from "./options.ts";

/**
 * What one batch is learnt from: log-probabilities and values before the first update, and the advantages and targets that follow from them,
 * computed once.
 *
 * @param klCoefficient of the reward
 */
export async function freeze(context: AlgorithmContext, options: PpoOptions, critic: ModelId, groups: readonly (readonly PpoEpisode[])[], klCoefficient: number): Promise<FrozenEpisode[][]> {
  const units = groups.map(unitOf);
  const pass = (model: ModelId, outputs: OutputSelection): Promise<readonly UnitOutputs[]> => forward(context, model, units, outputs);
  const old = options.old_policy === "sampler" ? [] : await pass(context.policy, { logprob: true });
  const values = await pass(critic, { value: true, finalValue: true });
  const references = options.kl_coefficient > 0 ? await pass(await context.reference(), { logprob: true }) : [];
  const frozen = groups.map((group, g) => {
    const [olds, valuesOf, referencesOf] = [byEpisode(group, old[g]?.logprob), byEpisode(group, values[g]?.value), byEpisode(group, references[g]?.logprob)];
    const finals = finalValues(group, values[g]?.finalValue as Float32Array);
    return group.map((episode, e): FrozenEpisode => {
      const before = olds[e] ?? episode.sampled;
      const reference = referencesOf[e];
      const rewards = options.kl_placement === "reward" && reference !== undefined ? charged(episode.rewards, before, reference, klCoefficient, options.kl_clip) : episode.rewards;
      const steps = { rewards, values: valuesOf[e] as Float32Array, finalValue: episode.isTruncated ? (finals[e] as number) : 0 };
      const advantages = generalizedAdvantages(steps, options.gamma, options.gae_lambda);
      const plus = (estimate: Float64Array): Float64Array => estimate.map((advantage, t) => advantage + (steps.values[t] as number));
      return {
        ...episode,
        old: before,
        values: steps.values,
        ...(reference === undefined ? {} : { reference }),
        advantages,
        targets: plus(options.value_lambda === undefined ? advantages : generalizedAdvantages(steps, options.gamma, options.value_lambda)),
        returns: plus(generalizedAdvantages(steps, options.gamma, 1)),
      };
    });
  });
  if (!options.whiten_advantages) return frozen;
  const whitened = whiten(frozen.flat().map(({ advantages }) => advantages)).values();
  return frozen.map((group) => group.map((episode) => ({ ...episode, advantages: whitened.next().value as Float64Array })));
}

/** r_t - β (old_t - ref_t): the reward with the divergence from the reference taken from it, token by token. */
function charged(rewards: Float64Array, old: Float32Array, reference: Float32Array, coefficient: number, clip = Number.POSITIVE_INFINITY): Float64Array {
  return rewards.map((reward, t) => reward - coefficient * Math.max(-clip, Math.min(clip, (old[t] as number) - (reference[t] as number))));
}

/** Of each episode's last row. */
function finalValues(group: readonly PpoEpisode[], finals: Float32Array): number[] {
  let rows = 0;
  return group.map((episode) => finals[(rows += episode.rows.length) - 1] as number);
}

function forward(context: AlgorithmContext, model: ModelId, units: readonly EngineUnit[], outputs: OutputSelection): Promise<readonly UnitOutputs[]> {
  return context.engine.forward({ model, units, outputs, temperature: context.sampling.temperature, signal: context.signal });
}

import { defined } from "@mrlm/kit";
import {
  type AlgorithmContext,
  type Credit,
  type EngineUnit,
  minibatches,
  ratioOf,
  type StepReport,
  trainStep,
  type UnitGradients,
  type UnitOutputs,
} from "@mrlm/kit/learning";
import { normalizerOf } from "./aggregation.ts";
import { creditsOf, type GroupLogprobs } from "./credits.ts";
import { distillPass, rewardedAlone } from "./distill-pass.ts";
import { dropMismatched, type Trimmed } from "./drop-mismatched.ts";
import { LossMetrics } from "./loss-metrics.ts";
import { evaluatesReference, type GrpoSettings, hasOwnDivergence } from "./options.ts";
import type { GroupSample } from "./samples.ts";
import { type FrozenLogprobs, unitLoss } from "./unit-loss.ts";

/** Result of the optimizer steps of one iteration. */
export interface UpdateReport {
  readonly loss: LossMetrics;
  /** Sum over the steps. */
  readonly normalizer: number;
  readonly steps: readonly StepReport[];
  readonly computedTokens: number;
  readonly credits: readonly Credit[];
}

/** Trains the policy on a batch: freezes the old log-probabilities, then makes all passes over the minibatches. */
export async function update(
  context: AlgorithmContext,
  given: GrpoSettings,
  sampled: readonly GroupSample[],
  stepsBefore: number,
): Promise<UpdateReport> {
  // A teacher's term that is a loss of its own is no part of the advantages.
  const [options, collected] = hasOwnDivergence(given)
    ? [{ ...given, distill_coefficient: 0 }, rewardedAlone(sampled, given.reward_coefficient)]
    : [given, sampled];
  // Groups are in the order of play, by environment. Without a shuffle a minibatch would have groups of one environment only.
  const shuffled = options.minibatches === 1 ? collected : context.random("grpo/minibatches").shuffle(collected);
  const { batch, old, reference } = await freeze(context, options, shuffled);
  const trainer = [...old];
  const samples = batch.map(({ group }) => group);
  const units = samples.map(unitOf);
  const loss = new LossMetrics(options.mismatch !== "none");
  for (const { trainer, sampler } of batch.flatMap(({ dropped }) => dropped))
    loss.mismatch.add(trainer, sampler, ratioOf(trainer, sampler), 0);
  const steps: StepReport[] = [];
  let normalizers = 0;
  let computedTokens = 0;
  for (let pass = 0; pass < options.updates_per_step; pass++) {
    for (const part of minibatches(Array.from(samples.keys()), options.minibatches)) {
      const groups = part.map((i) => samples[i] as GroupSample);
      const normalizer = normalizerOf(groups, options.aggregation, context.sampling.maxTokens);
      if (normalizer === 0) continue;
      const isMismatchCounted = steps.length === 0 || (pass === 0 && batch[0]?.frozen.old !== undefined);
      const lossOf = (unit: number, outputs: UnitOutputs, metrics: LossMetrics): UnitGradients =>
        unitLoss(
          groups[unit] as GroupSample,
          batch[part[unit] as number]?.frozen as FrozenLogprobs,
          outputs,
          options,
          metrics,
          isMismatchCounted,
        );
      const onOutputs = (unit: number, outputs: UnitOutputs): UnitGradients => {
        if (isMismatchCounted) trainer[part[unit] as number] ??= outputs.logprob;
        return lossOf(unit, outputs, loss);
      };
      const known = gradientIsKnown(options);
      if (hasOwnDivergence(given)) {
        const distilled = await distillPass(
          context,
          given,
          groups,
          part.map((i) => units[i] as EngineUnit),
          normalizer,
        );
        loss.addDivergence(distilled.divergence);
        computedTokens += distilled.computedTokens;
      }
      const { pass: result, ...step } = await trainStep(context, {
        model: context.policy,
        units: part.map((i) => units[i] as EngineUnit),
        outputs: { logprob: true, entropy: options.entropy_coefficient > 0 },
        temperature: context.sampling.temperature,
        normalizer,
        loss: known
          ? // The ratio is 1 for all log-probabilities, so the result does not depend on those passed here.
            groups.map((group, unit) => lossOf(unit, { logprob: sampledLogprobs(group) }, new LossMetrics()))
          : onOutputs,
        returnOutputs: known,
        optimizer: options,
        step: stepsBefore + steps.length + 1,
        totalSteps: options.steps * options.updates_per_step * options.minibatches,
      });
      if (known) for (const [unit, outputs] of result.outputs.entries()) onOutputs(unit, outputs);
      steps.push(step);
      normalizers += normalizer;
      computedTokens += result.computedTokens;
    }
  }
  return {
    loss,
    normalizer: normalizers,
    steps,
    computedTokens,
    credits: creditsOf(shuffled, { trainer, reference }, options),
  };
}

/**
 * Whether the gradient is known before the forward pass. In the only update of a batch, with old log-probabilities of the trainer itself, the ratio
 * is exactly 1, so the gradient does not depend on outputs and can be sent with the batch. A divergence, a teacher's advantage and a loss of another package may
 * depend on them.
 */
function gradientIsKnown(options: GrpoSettings): boolean {
  const updates = options.updates_per_step * options.minibatches;
  return (
    !("ownLoss" in options) &&
    updates === 1 &&
    options.old_policy === "trainer" &&
    options.mismatch === "none" &&
    !evaluatesReference(options)
  );
}

/**
 * Computes the log-probabilities that stay constant during the update, those of trainer and reference also by group. Removes the tokens that
 * `mismatch: drop` leaves out.
 */
async function freeze(
  context: AlgorithmContext,
  options: GrpoSettings,
  groups: readonly GroupSample[],
): Promise<{ readonly batch: readonly Trimmed[] } & GroupLogprobs<"old" | "reference">> {
  const units = groups.map(unitOf);
  const logprobsOf = async (model: string): Promise<readonly (Float32Array | undefined)[]> => {
    const outputs = await context.engine.forward({
      model,
      units,
      outputs: { logprob: true },
      temperature: context.sampling.temperature,
      signal: context.signal,
    });
    return outputs.map((output) => output.logprob);
  };
  const needsOld =
    options.old_policy === "trainer" &&
    (options.updates_per_step * options.minibatches > 1 || options.mismatch === "drop");
  const old = needsOld ? await logprobsOf(context.policy) : [];
  const reference = evaluatesReference(options) ? await logprobsOf(await context.reference()) : [];
  const batch = groups.map((group, i) => {
    const frozen = {
      ...defined({ old: old[i], reference: reference[i] }),
    };
    return options.mismatch === "drop" && frozen.old !== undefined
      ? dropMismatched(group, { ...frozen, old: frozen.old }, options)
      : { group, frozen, dropped: [] };
  });
  return { batch, old, reference };
}

function unitOf(group: GroupSample): EngineUnit {
  return { sequences: group.episodes.flatMap(({ rows }) => rows.map(({ tokens, mask }) => ({ tokens, mask }))) };
}

function sampledLogprobs(group: GroupSample): Float32Array {
  return Float32Array.from(group.episodes.flatMap(({ sampled }) => Array.from(sampled)));
}

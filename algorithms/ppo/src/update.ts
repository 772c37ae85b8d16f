import { meanOf, optimStepOptions } from "@mrlm/kit";
import type { AlgorithmContext, Metrics, ModelId } from "@mrlm/spec";
import { byEpisode, type FrozenEpisode, unitOf } from "./batch.ts";
import { PpoMetrics } from "./metrics.ts";
import type { PpoOptions } from "./options.ts";
import { policyGradients } from "./policy-loss.ts";
import { valueLoss } from "./value-loss.ts";

/** What the updates of one iteration came to. */
export interface UpdateReport {
  readonly metrics: Metrics;
  readonly optimizerSteps: number;
  readonly notices: readonly string[];
}

/** State of the iteration that its updates need. */
export interface UpdateParts {
  readonly critic: ModelId;
  readonly klCoefficient: number;
  readonly isPolicyLearning: boolean;
  /** Updates before this iteration, for schedules. */
  readonly stepsBefore: number;
}

type Groups = readonly (readonly FrozenEpisode[])[];

/** Several passes over a frozen batch: a step of the policy and one of the critic for each minibatch. */
export async function update(context: AlgorithmContext, options: PpoOptions, groups: Groups, parts: UpdateParts): Promise<UpdateReport> {
  const metrics = new PpoMetrics();
  const norms: Record<"policy" | "critic", number[]> = { policy: [], critic: [] };
  const notices: string[] = [];
  const random = context.random("ppo/minibatches");
  const totalSteps = options.steps * options.updates_per_step * options.minibatches;
  let steps = 0;
  let isMoving = parts.isPolicyLearning;
  let stopped = 0;
  const apply = async (model: ModelId, kind: "policy" | "critic"): Promise<void> => {
    const rate = kind === "policy" ? options.learning_rate : (options.critic_learning_rate ?? 10 * options.learning_rate);
    const applied = await context.engine.optimStep({ model, ...optimStepOptions({ ...options, learning_rate: rate }, parts.stepsBefore + steps, totalSteps) });
    if (applied.applied) norms[kind].push(applied.gradNorm);
    else notices.push(`An optimiser step of the ${kind} was skipped: ${applied.skippedReason ?? "the gradient norm was not finite"}`);
  };
  for (let pass = 0; pass < options.updates_per_step; pass++) {
    for (const minibatch of split(options.minibatches === 1 ? groups : random.shuffle(groups), options.minibatches)) {
      steps++;
      if (isMoving) {
        const before = metrics.moved;
        await accumulatePolicy(context, options, minibatch, parts.klCoefficient, metrics);
        await apply(context.policy, "policy");
        const { sum, count } = metrics.moved;
        if (options.stop_kl !== undefined && (sum - before.sum) / (count - before.count) > options.stop_kl) isMoving = false;
      } else if (parts.isPolicyLearning) stopped++;
      await accumulateCritic(context, options, minibatch, parts.critic, metrics);
      await apply(parts.critic, "critic");
    }
  }
  return {
    metrics: {
      ...metrics.report(),
      "optim/grad_norm": meanOf(norms.policy),
      "optim/critic_grad_norm": meanOf(norms.critic),
      "optim/learning_rate": optimStepOptions(options, parts.stepsBefore + steps, totalSteps).learningRate,
      "optim/skipped": notices.length,
      "optim/stopped": stopped,
    },
    optimizerSteps: steps,
    notices,
  };
}

async function accumulatePolicy(context: AlgorithmContext, options: PpoOptions, groups: Groups, klCoefficient: number, metrics: PpoMetrics): Promise<void> {
  await context.engine.forwardBackward({
    model: context.policy,
    units: groups.map(unitOf),
    outputs: { logprob: true, entropy: options.entropy_coefficient > 0 },
    temperature: context.sampling.temperature,
    normalizer: tokensOf(groups),
    loss: (unit, outputs) => policyGradients(groups[unit] as readonly FrozenEpisode[], outputs, options, klCoefficient, metrics),
    signal: context.signal,
  });
}

async function accumulateCritic(context: AlgorithmContext, options: PpoOptions, groups: Groups, critic: ModelId, metrics: PpoMetrics): Promise<void> {
  await context.engine.forwardBackward({
    model: critic,
    units: groups.map(unitOf),
    outputs: { value: true },
    normalizer: tokensOf(groups),
    loss(unit, { value = new Float32Array() }) {
      const group = groups[unit] as readonly FrozenEpisode[];
      const slopes = byEpisode(group, value).flatMap((values, e) => {
        const { values: old, targets } = group[e] as FrozenEpisode;
        return Array.from(values, (now, t) => {
          const { loss, slope, isHeld } = valueLoss(now, old[t] as number, targets[t] as number, options.value_clip);
          metrics.addValue(loss, isHeld);
          return options.value_coefficient * slope;
        });
      });
      return { value: Float32Array.from(slopes) };
    },
    signal: context.signal,
  });
}

function tokensOf(groups: Groups): number {
  return groups.flat().reduce((sum, { sampled }) => sum + sampled.length, 0);
}

/** `parts` runs of nearly equal length; empty ones are left out. */
function split(groups: Groups, parts: number): Groups[] {
  const bound = (part: number): number => Math.round((groups.length * part) / parts);
  return Array.from({ length: parts }, (_, part) => groups.slice(bound(part), bound(part + 1))).filter((part) => part.length > 0);
}

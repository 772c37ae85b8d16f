import {
  type AlgorithmContext,
  type Credit,
  type EngineUnit,
  type Metrics,
  minibatches,
  type ModelId,
  type OutputSelection,
  stepMetrics,
  type UnitGradients,
  type UnitOutputs,
} from "@mrlm/kit/learning";
import type { PpoGroup } from "./batch.ts";
import { FrozenBatch } from "./frozen-batch.ts";
import { criticMetrics, PpoMetrics } from "./metrics.ts";
import type { PpoOptions } from "./options.ts";
import { policyGradients } from "./policy-loss.ts";
import { type Minibatches, type ModelUpdate, trainModel, type UpdateResult } from "./train-model.ts";
import { valueGradients } from "./value-loss.ts";

/** State of the stage that an update needs. */
export interface LearnParts {
  /** The policy itself where the critic shares its backbone. */
  readonly critic: ModelId;
  readonly klCoefficient: number;
  /** False in the first `critic_warmup_steps` iterations, which train the critic only. */
  readonly isPolicyLearning: boolean;
  /** Optimizer steps of each model before this iteration, for schedules. The policy makes none while only the critic is trained. */
  readonly stepsBefore: Readonly<Record<"policy" | "critic", number>>;
}

/** Result of training on one batch. */
export interface LearnReport {
  readonly metrics: Metrics;
  readonly updates: number;
  readonly notices: readonly string[];
  /** Divergence of each episode from the reference, in nats. */
  readonly divergences: readonly number[];
  readonly credits: readonly Credit[];
}

/** Trains critic and policy on one batch: `updates_per_step` passes over it, each in `minibatches` parts. */
export async function learn(
  context: AlgorithmContext,
  options: PpoOptions,
  groups: readonly PpoGroup[],
  parts: LearnParts,
): Promise<LearnReport> {
  const { critic, klCoefficient, isPolicyLearning, stepsBefore } = parts;
  const batch = new FrozenBatch(groups, options, klCoefficient);
  const metrics = new PpoMetrics();
  const updates = orders(context, options, groups.length);
  const perIteration = options.updates_per_step * options.minibatches;
  const minibatchesOf = (model: "policy" | "critic", iterations: number): Minibatches => ({
    batch,
    minibatches: updates,
    stepsBefore: stepsBefore[model],
    totalSteps: iterations * perIteration,
  });
  const policyMinibatches = minibatchesOf("policy", options.steps - options.critic_warmup_steps);
  const entropy = options.entropy_coefficient > 0;
  const values: OutputSelection = { value: true, finalValue: groups.flat().some(({ isTruncated }) => isTruncated) };
  const onValues = (unit: number, outputs: UnitOutputs): UnitGradients => {
    batch.freezeValues(unit, outputs);
    return valueGradients(batch.estimates(unit), outputs.value as Float32Array, options, metrics);
  };
  const onLogprobs: ModelUpdate["gradients"] = (units) => {
    const scale = batch.perKept(units);
    return (unit, outputs) => {
      batch.freezeLogprobs(unit, outputs.logprob as Float32Array);
      return policyGradients(batch.episodes(unit), outputs, options, klCoefficient, metrics, scale);
    };
  };
  const isDone = stopRule(options, metrics);
  const results: Record<"policy" | "critic", UpdateResult | undefined> = { policy: undefined, critic: undefined };
  await evaluate(context, options, batch, critic, values);
  if (critic === context.policy) {
    if (options.whiten_advantages) batch.whiten();
    const gradients: ModelUpdate["gradients"] = (units) => {
      const ofPolicy = onLogprobs(units);
      return (unit, outputs) => ({ ...ofPolicy(unit, outputs), ...onValues(unit, outputs) });
    };
    results.policy = await trainModel(
      context,
      options,
      {
        model: critic,
        outputs: { logprob: true, entropy, value: true },
        learningRate: options.learning_rate,
        gradients,
        isDone,
      },
      policyMinibatches,
    );
  } else {
    const learningRate = options.critic_learning_rate ?? 10 * options.learning_rate;
    results.critic = await trainModel(
      context,
      options,
      { model: critic, outputs: values, learningRate, gradients: () => onValues },
      minibatchesOf("critic", options.steps),
    );
    if (options.whiten_advantages) batch.whiten();
    const policy: ModelUpdate = {
      model: context.policy,
      outputs: { logprob: true, entropy },
      learningRate: options.learning_rate,
      gradients: onLogprobs,
      isDone,
    };
    if (isPolicyLearning) results.policy = await trainModel(context, options, policy, policyMinibatches);
  }
  const [policySteps, criticSteps] = [results.policy?.steps ?? [], results.critic?.steps ?? []];
  const notices = [...policySteps, ...criticSteps].flatMap((step) => step.notices);
  return {
    metrics: {
      ...metrics.report(),
      ...batch.mismatch(),
      ...criticMetrics(batch.units.flatMap((_, unit) => batch.estimates(unit))),
      ...stepMetrics(policySteps),
      ...(results.critic === undefined
        ? {}
        : { "optim/critic_grad_norm": stepMetrics(criticSteps)["optim/grad_norm"] }),
      "optim/skipped": notices.length,
      "optim/stopped": results.policy?.leftOut ?? 0,
    },
    updates: updates.length,
    notices,
    divergences: batch.referenceDivergences(),
    credits: batch.credits(),
  };
}

/**
 * Runs the forward passes that the first update needs. With one minibatch the first update of each model covers the whole batch with unchanged weights, so
 * its own forward pass provides the values (critic) and the old log-probabilities (policy).
 */
async function evaluate(
  context: AlgorithmContext,
  options: PpoOptions,
  batch: FrozenBatch,
  critic: ModelId,
  values: OutputSelection,
): Promise<void> {
  const forward = async (
    model: ModelId,
    outputs: OutputSelection,
    receive: (unit: number, outputs: UnitOutputs) => void,
  ): Promise<void> => {
    const found = await context.engine.forward({
      model,
      units: batch.units as EngineUnit[],
      outputs,
      temperature: context.sampling.temperature,
      signal: context.signal,
    });
    found.forEach((each, unit) => receive(unit, each));
  };
  const logprobs = (unit: number, { logprob }: UnitOutputs): void =>
    batch.freezeLogprobs(unit, logprob as Float32Array);
  if (options.kl_coefficient > 0)
    await forward(await context.reference(), { logprob: true }, (unit, { logprob }) =>
      batch.freezeReference(unit, logprob as Float32Array),
    );
  const isTrainers = options.old_policy === "trainer";
  if (critic === context.policy) {
    await forward(critic, { ...values, logprob: isTrainers }, (unit, outputs) => {
      if (isTrainers) logprobs(unit, outputs);
      batch.freezeValues(unit, outputs);
    });
    return;
  }
  const isSplit = options.minibatches > 1;
  if (isTrainers && (isSplit || options.kl_coefficient > 0 || options.mismatch === "drop"))
    await forward(context.policy, { logprob: true }, logprobs);
  if (isSplit) await forward(critic, values, (unit, outputs) => batch.freezeValues(unit, outputs));
}

/** Returns the units of each minibatch. Every pass contains all units; with several minibatches each pass shuffles them. */
function orders(context: AlgorithmContext, options: PpoOptions, size: number): number[][] {
  const all = Array.from({ length: size }, (_, unit) => unit);
  const random = context.random("ppo/minibatches");
  return Array.from({ length: options.updates_per_step }, () =>
    minibatches(options.minibatches === 1 ? all : random.shuffle(all), options.minibatches),
  ).flat();
}

/**
 * Returns a function to call before each update. It returns true if the mean of k3 between old and current policy, over the tokens of the latest update,
 * is above `stop_kl`.
 */
function stopRule({ stop_kl: limit }: { readonly stop_kl?: number | undefined }, metrics: PpoMetrics): () => boolean {
  let before = metrics.moved;
  return () => {
    const { sum, count } = metrics.moved;
    const moved = (sum - before.sum) / (count - before.count);
    before = { sum, count };
    return limit !== undefined && moved > limit;
  };
}

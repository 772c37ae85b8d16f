import {
  type AlgorithmContext,
  type EngineUnit,
  type ModelId,
  type OutputSelection,
  type StepReport,
  trainStep,
  type UnitGradients,
  type UnitOutputs,
} from "@mrlm/kit/learning";
import { tokensOf } from "./batch.ts";
import type { FrozenBatch } from "./frozen-batch.ts";
import type { PpoOptions } from "./options.ts";

/** A model to train on a batch, with its loss. */
export interface ModelUpdate {
  readonly model: ModelId;
  /** Outputs that the loss reads. */
  readonly outputs: OutputSelection;
  readonly learningRate: number;
  /** Returns a function for one minibatch: the gradient of one unit's part of the loss, a sum over its tokens. */
  gradients(units: readonly number[]): (unit: number, outputs: UnitOutputs) => UnitGradients;
  /** Called before each minibatch. The first result of true ends the update. */
  isDone?(): boolean;
}

/** The minibatches of one iteration, and their position in the schedule of the stage. */
export interface Minibatches {
  readonly batch: FrozenBatch;
  /** Units of each minibatch. */
  readonly minibatches: readonly (readonly number[])[];
  /** Optimizer steps of the stage before this iteration. */
  readonly stepsBefore: number;
  /** Optimizer steps of the whole stage. */
  readonly totalSteps: number;
}

/** Result of training one model on the minibatches of one iteration. */
export interface UpdateResult {
  readonly steps: readonly StepReport[];
  /** Minibatches that were left out because `isDone` returned true. */
  readonly leftOut: number;
}

/** Makes one optimizer step for each minibatch. The loss of a minibatch is a mean over its tokens. */
export async function trainModel(
  context: AlgorithmContext,
  options: PpoOptions,
  update: ModelUpdate,
  { batch, minibatches, stepsBefore, totalSteps }: Minibatches,
): Promise<UpdateResult> {
  const steps: StepReport[] = [];
  for (const [i, units] of minibatches.entries()) {
    if (update.isDone?.() === true) return { steps, leftOut: minibatches.length - i };
    const gradients = update.gradients(units);
    const { metrics, notices } = await trainStep(context, {
      model: update.model,
      units: units.map((unit) => batch.units[unit] as EngineUnit),
      outputs: update.outputs,
      temperature: context.sampling.temperature,
      normalizer: tokensOf(units.map((unit) => batch.groups[unit] ?? [])),
      loss: (at, outputs) => gradients(units[at] as number, outputs),
      optimizer: { ...options, learning_rate: update.learningRate },
      step: stepsBefore + i + 1,
      totalSteps,
    });
    steps.push({ metrics, notices });
  }
  return { steps, leftOut: 0 };
}

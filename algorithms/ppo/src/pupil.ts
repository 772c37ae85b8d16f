import { optimStepOptions } from "@mrlm/kit/learning";
import type { AlgorithmContext, EngineUnit, ModelId, OutputSelection, UnitGradients, UnitOutputs } from "@mrlm/spec";
import { tokensOf } from "./batch.ts";
import type { FrozenBatch } from "./frozen-batch.ts";
import type { PpoOptions } from "./options.ts";

/** A model that learns from a batch, and what it is told. */
export interface Pupil {
  readonly model: ModelId;
  readonly outputs: OutputSelection;
  readonly learningRate: number;
  /** Gradient of one unit's part of the loss, a sum over its tokens. */
  gradients(unit: number, outputs: UnitOutputs): UnitGradients;
  /** Asked before each update; once true, the rest of the batch's updates is left out. */
  isDone?(): boolean;
}

/** The updates of a batch, and where they stand in the stage. */
export interface Course {
  readonly batch: FrozenBatch;
  /** Units of each update. */
  readonly minibatches: readonly (readonly number[])[];
  /** Updates before this batch, for schedules. */
  readonly stepsBefore: number;
  /** Of the whole stage. */
  readonly totalSteps: number;
}

/** What became of a pupil's updates. */
export interface Lessons {
  /** Gradient norms before clipping, of the updates that were made. */
  readonly norms: readonly number[];
  readonly skipped: readonly string[];
  readonly leftOut: number;
  readonly learningRate: number;
}

/** Makes one optimiser step for each minibatch; the loss of each is a mean over its tokens. */
export async function teach(
  context: AlgorithmContext,
  options: PpoOptions,
  pupil: Pupil,
  course: Course,
): Promise<Lessons> {
  const { batch, minibatches, stepsBefore, totalSteps } = course;
  const norms: number[] = [];
  const skipped: string[] = [];
  let leftOut = 0;
  let learningRate = 0;
  for (const [i, units] of minibatches.entries()) {
    if (pupil.isDone?.() === true) {
      leftOut = minibatches.length - i;
      break;
    }
    await context.engine.forwardBackward({
      model: pupil.model,
      units: units.map((unit) => batch.units[unit] as EngineUnit),
      outputs: pupil.outputs,
      temperature: context.sampling.temperature,
      normalizer: tokensOf(units.map((unit) => batch.groups[unit] ?? [])),
      loss: (at, outputs) => pupil.gradients(units[at] as number, outputs),
      signal: context.signal,
    });
    const update = optimStepOptions({ ...options, learning_rate: pupil.learningRate }, stepsBefore + i + 1, totalSteps);
    learningRate = update.learningRate;
    const applied = await context.engine.optimStep({ model: pupil.model, ...update });
    if (applied.applied) norms.push(applied.gradNorm);
    else
      skipped.push(
        `An optimiser step of the ${pupil.model} was skipped: ${applied.skippedReason ?? "the gradient norm was not finite"}`,
      );
  }
  return { norms, skipped, leftOut, learningRate };
}

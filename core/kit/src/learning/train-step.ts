import type {
  AlgorithmContext,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  Mean,
  OutputSelection,
} from "@mrlm/spec";
import { meanOf } from "./mean.ts";
import { type OptimizerOptions, optimStepOptions } from "./optimizer-options.ts";

/** Arguments of {@link trainStep}: those of the pass, and those of the optimizer step after it. */
export interface TrainStepOptions<Selection extends OutputSelection = OutputSelection> extends Omit<
  ForwardBackwardOptions<Selection>,
  "signal"
> {
  readonly optimizer: OptimizerOptions;
  /** Number of the step in the schedule of the learning rate; the first is 1. */
  readonly step: number;
  /** Steps of the whole schedule. */
  readonly totalSteps: number;
}

/** Metrics and notices of one optimizer step. */
export interface StepReport {
  readonly metrics: {
    readonly "optim/learning_rate": number;
    /** 1 for a step that was skipped, else 0. */
    readonly "optim/skipped": number;
    /** Global norm before clipping. Absent for a skipped step. */
    readonly "optim/grad_norm"?: number;
  };
  /** The reason of a skipped step. */
  readonly notices: readonly string[];
}

/** Result of {@link trainStep}. */
export interface TrainStepResult extends StepReport {
  readonly pass: ForwardBackwardResult;
}

/**
 * Trains a model on one batch: a forward and backward pass, then one optimizer step. A step whose gradient norm is not finite is skipped and leaves
 * the weights as they are.
 */
export async function trainStep<const Selection extends OutputSelection>(
  { engine, signal }: Pick<AlgorithmContext, "engine" | "signal">,
  { optimizer, step, totalSteps, ...options }: TrainStepOptions<Selection>,
): Promise<TrainStepResult> {
  const { model } = options;
  // An engine computes what is selected, so that the loss may take it for granted.
  const pass = await engine.forwardBackward({ ...(options as Omit<ForwardBackwardOptions, "signal">), signal });
  const hyperparameters = optimStepOptions(optimizer, step, totalSteps);
  const { applied, gradNorm, skippedReason } = await engine.optimStep({ model, ...hyperparameters });
  return {
    pass,
    metrics: {
      "optim/learning_rate": hyperparameters.learningRate,
      "optim/skipped": Number(!applied),
      ...(applied ? { "optim/grad_norm": gradNorm } : {}),
    },
    notices: applied
      ? []
      : [
          `Optimizer step ${step} of the model "${model}" was skipped: ${skippedReason ?? "the gradient norm was not finite"}`,
        ],
  };
}

/**
 * Returns the metrics of several steps: the mean norm of the applied ones, the number of the skipped ones, and the last
 * learning rate (0 without a step).
 */
export function stepMetrics(steps: readonly StepReport[]): {
  readonly "optim/grad_norm": Mean;
  readonly "optim/skipped": number;
  readonly "optim/learning_rate": number;
} {
  return {
    "optim/grad_norm": meanOf(steps.flatMap(({ metrics }) => metrics["optim/grad_norm"] ?? [])),
    "optim/skipped": steps.reduce((sum, { metrics }) => sum + metrics["optim/skipped"], 0),
    "optim/learning_rate": steps.at(-1)?.metrics["optim/learning_rate"] ?? 0,
  };
}

/** Divides items into `parts` minibatches of nearly equal length, in their order; one optimizer step uses one minibatch. Empty ones are left out. */
export function minibatches<T>(items: readonly T[], parts: number): T[][] {
  const bound = (part: number): number => Math.round((items.length * part) / parts);
  return Array.from({ length: parts }, (_, part) => items.slice(bound(part), bound(part + 1))).filter(
    (run) => run.length > 0,
  );
}

import type { OptimStepOptions } from "@mrlm/spec";
import { z } from "zod";

/** Options of every algorithm with AdamW, to spread into its schema. */
export const optimizerOptions = {
  learning_rate: z.number().positive().describe("Peak learning rate"),
  lr_schedule: z
    .enum(["constant", "linear", "cosine"])
    .default("constant")
    .describe("After warm-up: stay, or fall towards lr_floor, which the step after the last one would have"),
  lr_floor: z.number().nonnegative().default(0).describe("Rate that lr_schedule: linear or cosine falls towards"),
  warmup_steps: z.int().nonnegative().default(0).describe("Optimizer steps of linear rise"),
  adam_beta1: z.number().min(0).lt(1).default(0.9).describe("Decay of the mean of gradients"),
  adam_beta2: z.number().min(0).lt(1).default(0.999).describe("Decay of the mean of their squares"),
  adam_epsilon: z.number().positive().default(1e-8).describe("Added to the root of that mean"),
  weight_decay: z.number().nonnegative().default(0).describe("Decoupled; norms, biases and embeddings are spared"),
  max_grad_norm: z.number().nonnegative().default(1).describe("Global norm to clip to; 0 does not clip"),
};

/** Parsed {@link optimizerOptions}. */
export type OptimizerOptions = z.output<z.ZodObject<typeof optimizerOptions>>;

/** Returns the arguments of optimizer step `step` (from 1) of `totalSteps`. */
export function optimStepOptions(
  options: OptimizerOptions,
  step: number,
  totalSteps: number,
): Omit<OptimStepOptions, "model"> {
  return {
    learningRate: learningRateAt(step, {
      kind: options.lr_schedule,
      peak: options.learning_rate,
      warmupSteps: options.warmup_steps,
      totalSteps,
      floor: options.lr_floor,
    }),
    beta1: options.adam_beta1,
    beta2: options.adam_beta2,
    epsilon: options.adam_epsilon,
    weightDecay: options.weight_decay,
    maxGradNorm: options.max_grad_norm,
  };
}

/** Course of the learning rate after warm-up. */
type ScheduleKind = "constant" | "linear" | "cosine";

/** Learning rate over optimizer steps. */
interface Schedule {
  readonly kind: ScheduleKind;
  readonly peak: number;
  /** Number of steps in which the rate rises linearly from peak / warmupSteps to peak. */
  readonly warmupSteps: number;
  /** Number of all steps, including warm-up. `linear` and `cosine` reach `floor` one step after the last, so that no step has rate 0. */
  readonly totalSteps: number;
  readonly floor?: number;
}

/** Returns the learning rate of optimizer step `step`, from 1. */
export function learningRateAt(step: number, schedule: Schedule): number {
  const { kind, peak, warmupSteps, totalSteps, floor = 0 } = schedule;
  if (step <= warmupSteps) return (peak * step) / warmupSteps;
  if (kind === "constant") return peak;
  const peakStep = Math.max(1, warmupSteps);
  const progress = Math.min(1, (step - peakStep) / (totalSteps + 1 - peakStep));
  return floor + (peak - floor) * (kind === "linear" ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2);
}

/** Course of the learning rate after warm-up. */
export type ScheduleKind = "constant" | "linear" | "cosine";

/** A learning rate over optimiser steps (never micro-batches). */
export interface Schedule {
  readonly kind: ScheduleKind;
  readonly peak: number;
  /** Steps of linear rise from peak / warmupSteps to peak. */
  readonly warmupSteps: number;
  /** All steps, warm-up included. `linear` and `cosine` would reach `floor` on the step after the last one, so that every step learns. */
  readonly totalSteps: number;
  readonly floor?: number;
}

/** Learning rate of the optimiser step that is about to be taken; the first is 1. */
export function learningRateAt(step: number, schedule: Schedule): number {
  const { kind, peak, warmupSteps, totalSteps, floor = 0 } = schedule;
  if (step <= warmupSteps) return (peak * step) / warmupSteps;
  if (kind === "constant") return peak;
  const peakStep = Math.max(1, warmupSteps);
  const progress = Math.min(1, (step - peakStep) / (totalSteps + 1 - peakStep));
  return floor + (peak - floor) * (kind === "linear" ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2);
}

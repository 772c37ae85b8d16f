/** Course of the learning rate after warm-up. */
export type ScheduleKind = "constant" | "linear" | "cosine";

/** Learning rate over optimizer steps. */
export interface Schedule {
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

import type { TrajectoryGroup } from "./trajectory.ts";

/**
 * A mean that can be merged without knowing how its samples were split: (sum, count) pairs add up.
 */
export interface Mean {
  readonly sum: number;
  readonly count: number;
}

/** Metrics of one iteration by name (`reward/mean`, `loss/policy`): numbers, or means that are still to be divided. */
export type Metrics = Readonly<Record<string, number | Mean>>;

/** What an algorithm reports after each iteration. */
export interface IterationReport {
  /** The first is 1. */
  readonly iteration: number;
  readonly metrics: Metrics;
  /** Wall seconds by phase: `sampling`, `environment`, `training`, `publish`, ... */
  readonly seconds: Readonly<Record<string, number>>;
  /** Episodes of this iteration, for the store. */
  readonly trajectories?: readonly TrajectoryGroup[];
  /** What someone should know (a skipped step, dropped groups), in words. */
  readonly notices?: readonly string[];
}

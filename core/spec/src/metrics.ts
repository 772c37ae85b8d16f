import type { TrajectoryGroup } from "./trajectory.ts";

/**
 * Mean as sum and count, so that means over parts of the samples can be merged by addition.
 */
export interface Mean {
  readonly sum: number;
  readonly count: number;
}

/** Metrics of one iteration by name (`reward/mean`, `loss/policy`). */
export type Metrics = Readonly<Record<string, number | Mean>>;

/** Report of an algorithm after an iteration. */
export interface IterationReport {
  /** Index from 1. */
  readonly iteration: number;
  readonly metrics: Metrics;
  /** Wall-clock seconds by phase: `sampling`, `environment`, `training`, `publish`, ... */
  readonly seconds: Readonly<Record<string, number>>;
  /** Episodes of this iteration, for the trajectory store. */
  readonly trajectories?: readonly TrajectoryGroup[];
  /** Sentences for the user, for example about a skipped step or dropped groups. */
  readonly notices?: readonly string[];
}

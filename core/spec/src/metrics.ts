import type { Credit } from "./learning.ts";

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
  /** Wall-clock seconds by phase: `training`, ... The run adds those of a take: `sampling`, `environment`, `publish` and `waited`, the rest of it. */
  readonly seconds: Readonly<Record<string, number>>;
  /** The signal of each episode of the last batch that was learnt from. Those of a later iteration replace them. */
  readonly credits?: readonly Credit[];
  /** Sentences for the user, for example about a skipped step or dropped groups. */
  readonly notices?: readonly string[];
}

import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "./json.ts";

/** Metrics of one iteration or evaluation. Means are divided, and values that are not finite are left out. */
export interface TrackedRow {
  readonly kind: "iteration" | "evaluation";
  /** Number of iterations of the whole run so far. */
  readonly step: number;
  readonly stage: string;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Run that a tracker shows. */
export interface TrackedRun {
  /** Directory of the run. Its metrics.jsonl has every metric, so that a failed tracker loses nothing. */
  readonly run: string;
  readonly name: string;
  /** Resolved configuration. */
  readonly config: JsonObject;
  /**
   * Step of the checkpoint from which the run resumes, 0 for the beginning; `undefined` for a new run. Discard rows of this step and of later steps: the run
   * logs them again, first those of this step.
   */
  readonly resumedAt: number | undefined;
}

/** Shows the metrics of a run in another program, for example TensorBoard. */
export interface Tracker {
  /** Adds a row; rows arrive in the order of the run. After a rejection the run prints a warning and does not call the tracker again. */
  log(row: TrackedRow): Promise<void>;
  close(status: "finished" | "stopped" | "failed"): Promise<void>;
}

/** Definition of a tracker in a plugin. */
export interface TrackerDefinition<Options = unknown> {
  /** Name in a configuration: `tensorboard` for the provision `tracker:tensorboard`. */
  readonly name: string;
  readonly description: string;
  readonly options: StandardSchemaV1<unknown, Options>;
  /** Checks the prerequisites before the run starts. A rejection (TRACKER_UNAVAILABLE) prevents the start. */
  check?(options: Options): Promise<void>;
  start(run: TrackedRun, options: Options): Promise<Tracker>;
}

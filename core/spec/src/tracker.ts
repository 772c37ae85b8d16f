import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "./json.ts";

/** Numbers of one iteration or evaluation. Means are divided; what was not finite is left out. */
export interface TrackedRow {
  readonly kind: "iteration" | "evaluation";
  /** Iterations of the whole run so far. */
  readonly step: number;
  readonly stage: string;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The run that is tracked. */
export interface TrackedRun {
  /** Its directory, whose metrics.jsonl stays the source: a tracker that fails loses nothing. */
  readonly run: string;
  readonly name: string;
  /** As it was resolved. */
  readonly config: JsonObject;
  /**
   * The step after which a continuation begins, 0 where it starts over; `undefined` for a new run. Whatever was tracked of this step and of later ones is void:
   * what holds of it comes again, this step's rows first.
   */
  readonly resumedAt: number | undefined;
}

/** Shows the metrics of a run elsewhere: TensorBoard, a dashboard. */
export interface Tracker {
  /** Called in the order of the run. A rejection is told once, and the tracker is not called again. */
  log(row: TrackedRow): Promise<void>;
  close(status: "finished" | "stopped" | "failed"): Promise<void>;
}

/** A kind of tracker as a plugin offers it. */
export interface TrackerDefinition<Options = unknown> {
  /** `tensorboard`; `tracker:tensorboard` in the manifest. */
  readonly name: string;
  readonly description: string;
  readonly options: StandardSchemaV1<unknown, Options>;
  /** Called before anything else is begun; rejects where the tracker lacks something, and the run does not start. */
  check?(options: Options): Promise<void>;
  start(run: TrackedRun, options: Options): Promise<Tracker>;
}

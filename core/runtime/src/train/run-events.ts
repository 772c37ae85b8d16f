import type { IterationReport, PolicyId, TrajectoryGroup } from "@mrlm/spec";
import type { RunMemory } from "../models/run-memory.ts";
import type { EvaluationPoint, EvaluationResult } from "../evaluation/evaluate.ts";

/** Event emitted during a run. */
export type RunEvent =
  | {
      readonly kind: "start";
      readonly directory: string;
      readonly stages: readonly { readonly name: string; readonly iterations: number }[];
      readonly resumedAt: number | undefined;
    }
  /** Memory estimate of the run, emitted before any model is created. */
  | { readonly kind: "memory"; readonly memory: RunMemory }
  | {
      readonly kind: "stage";
      readonly index: number;
      readonly name: string;
      readonly iterations: number;
      readonly iteration: number;
      /** Episodes of a batch; absent where the stage plays none. */
      readonly batch?: number;
      /** Number of stages of the run. */
      readonly stages: number;
      /** Policies of the learners where there are several. Metrics then begin with the policy. */
      readonly learners?: readonly PolicyId[];
      /** Description of the algorithm. */
      readonly description: string;
      /** Greedy accuracy on training tasks that ends the stage. */
      readonly until?: number;
      /** Mode of a stage whose play runs ahead of learning. */
      readonly play?: { readonly mode: "pipelined" | "async"; readonly lag: number };
    }
  | {
      readonly kind: "iteration";
      readonly stage: number;
      readonly name: string;
      readonly iterations: number;
      readonly step: number;
      readonly report: IterationReport;
      /** Groups of the batch that the iteration took. */
      readonly played: readonly TrajectoryGroup[];
      readonly seconds: number;
      readonly engineSeconds: number;
      /** Seconds in which this process rendered conversations and read answers. */
      readonly renderingSeconds: number;
    }
  | {
      readonly kind: "evaluation";
      readonly step: number;
      readonly label: string;
      readonly results: readonly EvaluationResult[];
      readonly seconds: number;
    }
  /** Progress of an evaluation, in episodes. */
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "checkpoint"; readonly step: number; readonly path: string; readonly seconds: number }
  | { readonly kind: "notice"; readonly text: string };

/** Result of a run. */
export interface RunSummary {
  /** `stopped`: the run was asked to stop, has written a checkpoint and can be resumed. */
  readonly status: "finished" | "stopped";
  readonly directory: string;
  readonly steps: number;
  readonly evaluations: readonly EvaluationPoint[];
  /** Wall seconds by phase, summed over interruptions: phases that iterations report, `evaluation` and `checkpoint`. */
  readonly seconds: Readonly<Record<string, number>>;
  /** Wall seconds of the iterations only. */
  readonly trainingSeconds: number;
  /** Path of the trained model; `undefined` if the run was stopped. */
  readonly model: string | undefined;
}

import type { IterationReport } from "@mrlm/spec";
import type { RunMemory } from "./run-memory.ts";
import type { EvaluationResult } from "../evaluation/evaluate.ts";

/** What a run tells while it goes on. */
export type RunEvent =
  | {
      readonly kind: "start";
      readonly directory: string;
      readonly stages: readonly { readonly name: string; readonly iterations: number }[];
      readonly resumedAt: number | undefined;
    }
  /** What the run is estimated to take, before anything is made. */
  | { readonly kind: "memory"; readonly memory: RunMemory }
  | {
      readonly kind: "stage";
      readonly index: number;
      readonly name: string;
      readonly iterations: number;
      readonly iteration: number;
      /** Stages of the run. */
      readonly stages: number;
      /** Of the algorithm. */
      readonly description: string;
      /** Greedy accuracy on training tasks that ends the stage. */
      readonly until?: number;
    }
  | {
      readonly kind: "iteration";
      readonly stage: number;
      readonly name: string;
      readonly iterations: number;
      readonly step: number;
      readonly report: IterationReport;
      readonly seconds: number;
      readonly engineSeconds: number;
    }
  | {
      readonly kind: "evaluation";
      readonly step: number;
      readonly label: string;
      readonly results: readonly EvaluationResult[];
      readonly seconds: number;
    }
  /** An evaluation under way, in episodes. */
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "checkpoint"; readonly step: number; readonly path: string; readonly seconds: number }
  | { readonly kind: "notice"; readonly text: string };

/** One evaluation of a run. */
export interface EvaluationPoint {
  /** Iterations of the whole run before it. */
  readonly step: number;
  /** `start`, or the name of the stage that had just ended or was under way. */
  readonly label: string;
  readonly results: readonly EvaluationResult[];
}

/** What a run came to. */
export interface RunSummary {
  /** `stopped`: it was asked to stop, has written a checkpoint and can be resumed. */
  readonly status: "finished" | "stopped";
  readonly directory: string;
  readonly steps: number;
  readonly evaluations: readonly EvaluationPoint[];
  /** Wall seconds by phase, over interruptions: what the iterations report, `evaluation` and `checkpoint`. */
  readonly seconds: Readonly<Record<string, number>>;
  /** Wall seconds of the iterations alone. */
  readonly trainingSeconds: number;
  /** The trained model; `undefined` when the run was stopped. */
  readonly model: string | undefined;
}

import type { StandardSchemaV1 } from "@standard-schema/spec";

/** Kinds of the processes that stand beside a training process. */
export const PART_KINDS = ["engine", "sampler", "rollouts", "environments", "store"] as const;

/** Kind of a part: an engine process, a sampler, a rollout worker, an environment server or a store server. */
export type PartKind = (typeof PART_KINDS)[number];

/** Equal processes of a run. */
export interface RunPart {
  readonly kind: PartKind;
  /** Program and arguments. The processes run in the working directory of the process that starts them. */
  readonly command: readonly [string, ...string[]];
  /** Number of processes, at least 1. */
  readonly count: number;
  /** CPU cores of each process; may be a fraction. */
  readonly cpus?: number;
  /** GPUs of each process, which `CUDA_VISIBLE_DEVICES` names in it. */
  readonly gpus?: number;
  /** Memory of each process in bytes. */
  readonly memory?: number;
  /** Environment variables, in addition to those that processes of the launcher inherit. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Running process of a part. */
export interface PartProcess {
  /** Kind and number: `rollouts-0`. A launcher counts each kind from 0 and uses no number twice. */
  readonly id: string;
  readonly kind: PartKind;
  /** Name of the machine. */
  readonly node: string;
  readonly pid: number;
}

/** Cause of the end of a process. */
export type PartEnd =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  /** The machine was lost, and the processes on it with it. */
  | { readonly kind: "node_lost"; readonly node: string }
  /** The launcher lost the process: its state is not known. */
  | { readonly kind: "unknown"; readonly message: string };

/** Event of a process of a part. */
export type PartEvent =
  | { readonly kind: "started"; readonly process: PartProcess }
  /** A line that the process printed, on either stream, without its end. */
  | { readonly kind: "output"; readonly process: PartProcess; readonly line: string }
  /** The last event of a process. */
  | { readonly kind: "ended"; readonly process: PartProcess; readonly cause: PartEnd };

/** Starts and places processes, and ends them. Carries no data of theirs but printed lines. */
export interface Launcher {
  /**
   * Starts all processes of the parts; may be called again. Each process has one `started`, then its `output`, then one `ended`. Rejects with LAUNCHER_FAILED if a
   * process cannot be started; then none of this call runs.
   */
  start(parts: readonly RunPart[], onEvent: (event: PartEvent) => void): Promise<void>;
  /**
   * Ends all processes and what they started, by SIGTERM and after `graceMs` (default 10,000) by SIGKILL. Resolves after the last `ended`. Nothing can be started
   * afterwards. Processes of a launcher end when the process that has it ends, however that ended.
   */
  stop(graceMs?: number): Promise<void>;
}

/** Definition of a launcher in a plugin. */
export interface LauncherDefinition<Options = unknown> {
  /** Name in a configuration: `local` for the provision `launcher:local`. */
  readonly name: string;
  readonly description: string;
  /** Schema of the keys of `launcher` beside `use`. */
  readonly options: StandardSchemaV1<unknown, Options>;
  /** Creates a launcher. Rejects with LAUNCHER_UNAVAILABLE if a prerequisite is missing. */
  create(options: Options): Launcher | Promise<Launcher>;
}

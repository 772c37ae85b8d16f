/** Result of an expression. `failed` means that the calculator itself failed; the others are answers for the policy. */
export type Outcome =
  | { readonly kind: "value"; readonly text: string; readonly isTruncated: boolean }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "timeout" | "memory" }
  | { readonly kind: "failed"; readonly text: string };

/** Limits of a worker process, passed as its argument. */
export interface WorkerLimits {
  /** Processor time of one expression. Its wall-clock time, on a machine with too few processors, is at most `MAX_WALL_FACTOR` times as long. */
  readonly timeoutMs: number;
  /** Heap of the thread that evaluates, in MiB. */
  readonly memoryMb: number;
  /** UTF-8 bytes of a result. */
  readonly outputBytes: number;
}

/** Wall-clock time of an expression relative to its limit of processor time. */
export const MAX_WALL_FACTOR = 5;

/** Time after its limit in which a worker process must answer before it is killed. */
const GRACE_MS = 2_000;

/** Returns the time after which a worker process that does not answer is killed. */
export function longestMs({ timeoutMs }: WorkerLimits): number {
  return timeoutMs * MAX_WALL_FACTOR + GRACE_MS;
}

/** Message of a worker process: it is ready for an expression, or has the outcome of the last one. */
export type WorkerMessage =
  | { readonly kind: "ready" }
  /** `isReady`: for the next expression. Otherwise `ready` follows. */
  | { readonly kind: "outcome"; readonly outcome: Outcome; readonly isReady: boolean };

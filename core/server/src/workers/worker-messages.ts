import type { Demonstration, TaskId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef } from "@mrlm/spec/host";
import type { encodeError } from "@mrlm/wire";

/** Messages between the server process and a worker, in order. They are copied as by `structuredClone`. */
export interface WorkerChannel {
  send(body: unknown): void;
  /** @returns a function that removes the listener */
  onMessage(listener: (body: unknown) => void): () => void;
  /** Aborts when the other process is gone. */
  readonly closed: AbortSignal;
}

/** Calls of the server process that concern no session. */
export interface WorkerCalls {
  /** Opens a session of each environment under default options and begins an episode. Rejects with the first error. */
  probe(): Promise<void>;
  list(): Promise<readonly EnvironmentDescription[]>;
  describe(environment: EnvironmentRef): Promise<EnvironmentDescription>;
  demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]>;
}

/** Error between processes. */
export type ErrorMessage = ReturnType<typeof encodeError>;

/** Message to a worker. */
export type ToWorker =
  | {
      readonly type: "call";
      readonly id: number;
      readonly method: keyof WorkerCalls;
      readonly given: readonly unknown[];
    }
  | { readonly type: "abort"; readonly id: number }
  /** Extends the leases of sessions, by their keys. */
  | { readonly type: "renew"; readonly owner: string; readonly sessions: readonly string[] }
  /** Requests `ended` for those of the sessions that do not exist. */
  | { readonly type: "check"; readonly sessions: readonly string[] }
  | { readonly type: "stop" };

/** Message of a worker. */
export type FromWorker =
  /** It has loaded its plugins and listens. */
  | { readonly type: "ready"; readonly environments: readonly EnvironmentDescription[] }
  | { readonly type: "unready"; readonly error: ErrorMessage }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: ErrorMessage }
  /** Keys of sessions that are not in its table, and the number of leases that have ended so far. */
  | { readonly type: "ended"; readonly sessions: readonly string[]; readonly expired: number }
  /** Its event loop advances. */
  | { readonly type: "beat" };

import type { Demonstration, TaskId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef } from "@mrlm/spec/host";

/** Calls of the server process that concern no session. */
export interface WorkerCalls {
  /** Resolves when the worker has loaded its plugins and listens. */
  start(): Promise<readonly EnvironmentDescription[]>;
  /** Opens a session of each environment under default options and begins an episode. Rejects with the first error. */
  probe(): Promise<void>;
  list(): Promise<readonly EnvironmentDescription[]>;
  describe(environment: EnvironmentRef): Promise<EnvironmentDescription>;
  demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]>;
}

/** Notice to a worker. */
export type ToWorker =
  /** Extends the leases of sessions, by their keys. */
  | { readonly type: "renew"; readonly owner: string; readonly sessions: readonly string[] }
  /** Requests `ended` for those of the sessions that do not exist. */
  | { readonly type: "check"; readonly sessions: readonly string[] }
  | { readonly type: "stop" };

/** Notice of a worker. */
export type FromWorker =
  /** Keys of sessions that are not in its table, and the number of leases that have ended so far. */
  | { readonly type: "ended"; readonly sessions: readonly string[]; readonly expired: number }
  /** Its event loop advances. */
  | { readonly type: "beat" };

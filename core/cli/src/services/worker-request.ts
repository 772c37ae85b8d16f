import type { LinkAddress } from "@mrlm/server";
import type { ChosenEnvironments } from "./selected-environments.ts";

/** Environments that a worker hosts, with their place. The server process sends it first. */
export interface WorkerRequest {
  /** Directory of the project, in which plugins are looked up. */
  readonly directory: string;
  readonly config: { readonly path: string; readonly set: readonly string[] } | undefined;
  readonly environments: ChosenEnvironments;
  readonly dataRoot: string;
  readonly anyData: boolean;
  /** Lease where a client states none; default: that of the server. */
  readonly leaseMs?: number | undefined;
  /** Log lines are JSON. */
  readonly logsJson: boolean;
  /** Name in the output: `worker 1`. */
  readonly name: string;
  readonly link: LinkAddress;
  /** File for the record of the session at work. */
  readonly record: string;
}

/** Event that the watchdog of a worker prints before it ends the process. */
export const BLOCKED_EVENT = "worker-blocked";

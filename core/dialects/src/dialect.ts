import type { Exchange } from "@mrlm/kit/http";
import type { SessionTable } from "@mrlm/server/sessions";
import type { EnvironmentHost, Logger, MrlmError } from "@mrlm/spec";

/** Services of the HTTP server for a dialect. */
export interface DialectContext {
  readonly host: EnvironmentHost;
  /** Ids of the environments that the host offers. */
  readonly environments: readonly string[];
  readonly sessions: SessionTable;
  readonly logger: Logger;
  /** Whether clients get rewards. */
  readonly revealRewards: boolean;
}

/** Protocol of another framework over the sessions of this server. */
export interface Dialect {
  /** Paths that clients connect to, for people. */
  readonly paths: readonly string[];
  /** Whether a path is a route of this dialect. No two dialects share one. */
  hasRoute(path: string): boolean;
  /** Answers a request. The HTTP server answers a rejection with its status and {@link errorBody}. */
  handle(exchange: Exchange): Promise<void>;
  /** Returns the JSON body of a response with this HTTP status, in the form of this protocol. */
  errorBody(error: MrlmError, status: number): unknown;
  /** Ends what its clients have open. Called once, after the sessions have ended. */
  close(): Promise<void>;
}

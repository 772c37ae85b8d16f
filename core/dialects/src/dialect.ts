import type { Exchange } from "@mrlm/kit/http";
import type { SessionTable } from "@mrlm/server/sessions";
import type { Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import type { WebSocket } from "ws";
import type { Catalogue } from "./catalogue.ts";
import type { ClientSandbox } from "./sandbox-fusion/client-sandbox.ts";

/** Services of the HTTP server for a dialect. */
export interface DialectContext {
  readonly host: EnvironmentHost;
  /** Ids of the environments of this port. */
  readonly environments: readonly string[];
  readonly catalogue: Catalogue;
  readonly sessions: SessionTable;
  /** Sandboxes by language, for programs that clients send. */
  readonly sandboxes: Readonly<Record<string, ClientSandbox>>;
  readonly logger: Logger;
  /** Whether clients of MCP get rewards. */
  readonly revealRewards: boolean;
  /** Whether clients of NeMo Gym get an error for an unscored episode, instead of a masked sample. */
  readonly unscoredIsError: boolean;
}

/** Request to a route whose access has been checked. */
export interface Call {
  readonly exchange: Exchange;
  /** Environment that the path or the port names, by its full id where it exists; `undefined` where the path names none of several. */
  readonly environment: string | undefined;
  /** Variable parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON of a POST; `undefined` without a body. */
  readonly body: unknown;
}

/** Route of a dialect. Each is served below `/ENVIRONMENT` too. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `/reset`, or `/{tool}`. Routes without a variable part go first. */
  readonly path: string;
  /** For the description of all routes. */
  readonly summary: string;
  /** Whether a request to a path that dialects share is for this dialect. Default: all are. */
  accepts?(call: Call): boolean;
  /** Body that stands for one that is not JSON. Default: the HTTP server refuses such a request with status 400. */
  readonly malformedBody?: unknown;
  /** Answers a request. The HTTP server answers a rejection with its status and the dialect's error body. */
  handle(call: Call): Promise<void> | void;
}

/** Endpoint for WebSocket connections, served below `/ENVIRONMENT` too. */
export interface SocketRoute {
  /** `/ws`, without a variable part. */
  readonly path: string;
  /** Receives a new connection, whose access has been checked. */
  open(socket: WebSocket, call: Omit<Call, "body">): void;
}

/** Protocol of another framework over the sessions of this server. */
export interface Dialect {
  /** Paths that clients connect to, for people. */
  readonly paths: readonly string[];
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  /** Returns the JSON body of a response with this HTTP status, in the form of this protocol. */
  errorBody(error: MrlmError, status: number): unknown;
  /** Ends what its clients have open. Called once, after the sessions have ended. */
  close(): Promise<void>;
}

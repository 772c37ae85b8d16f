import type { Action, Observation, TaskId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef } from "@mrlm/spec/host";

/** Request of a client to start an episode in its session, which the first one opens. */
export interface SessionReset {
  /** Random 128 bits. */
  readonly sessionId: Uint8Array;
  /** Number of the reset in its session, from 1 on. A repeated one gets the first response. */
  readonly epoch: number;
  readonly environment: EnvironmentRef;
  readonly seed?: number;
  readonly task?: TaskId;
  /** Time without a request after which the session ends; default: that of the table. */
  readonly leaseMs?: number;
  /** Longest time until the response, in addition to the limits of the host; default: none. */
  readonly deadlineMs?: number;
  /** Name of the client among those that share the places of the server. Default: the owner. */
  readonly client?: string;
  /** `traceparent` of the caller as it came. */
  readonly trace?: string;
  /** Called once when the session is no longer in the table, for any reason. Only that of the first reset counts. */
  readonly onEnd?: () => void;
}

/** Request of a client to act in its session. */
export interface SessionStep {
  readonly sessionId: Uint8Array;
  readonly epoch: number;
  /** Number of the step in its epoch, from 0 on. A repeated one gets the first response. */
  readonly index: number;
  readonly action: Action;
  /** Whether the decoder of the wire has checked the form of the action. Default: false. */
  readonly isDecoded?: boolean;
  readonly deadlineMs?: number;
  /** `traceparent` of the caller as it came. */
  readonly trace?: string;
}

/** Response to a reset. */
export interface SessionStart {
  readonly observation: Observation;
  readonly leaseMs: number;
  readonly description: EnvironmentDescription;
}

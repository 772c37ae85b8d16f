import {
  checkName,
  decodeAction,
  decodeEnvironmentRef,
  encodeObservation,
  type environmentProto as wire,
  fromInt64,
} from "@mrlm/wire";
import type { SessionReset, SessionStart, SessionStep } from "../sessions/requests.ts";

/** Decodes a reset of a client. Throws MESSAGE_INVALID. */
export function decodeReset(request: wire.ResetRequest, { client }: Pick<SessionReset, "client">): SessionReset {
  const { sessionId, epoch, environment, seed, task, leaseMs, deadlineMs } = request;
  checkName(task, "the name of a task");
  return {
    sessionId,
    epoch,
    environment: decodeEnvironmentRef(environment),
    ...(seed !== undefined && { seed: fromInt64(seed, "a seed") }),
    ...(task !== "" && { task }),
    leaseMs,
    deadlineMs,
    ...(client !== undefined && { client }),
  };
}

/** Encodes the response to a reset. */
export function encodeStart({ observation, leaseMs, description }: SessionStart): wire.ResetResponse {
  return { observation: encodeObservation(observation), leaseMs, maxTurns: description.maxTurns };
}

/** Decodes a step. Throws MESSAGE_INVALID. */
export function decodeStep({ sessionId, epoch, index, action, deadlineMs }: wire.StepRequest): SessionStep {
  return { sessionId, epoch, index, action: decodeAction(action), deadlineMs };
}

import {
  checkName,
  decodeAction,
  decodeEnvironmentRef,
  encodeObservation,
  type environmentProto as wire,
  fromInt64,
} from "@mrlm/wire";
import type { SessionReset, SessionStart, SessionStep } from "../sessions/requests.ts";

/** Decodes a reset of a client. Throws MESSAGE_INVALID. @param trace its `traceparent`; empty for none */
export function decodeReset(
  request: wire.ResetRequest,
  { client }: Pick<SessionReset, "client">,
  trace: string,
): SessionReset {
  const { sessionId, epoch, environment, seed, task, leaseMs, deadlineMs } = request;
  checkName(task, "the name of a task");
  return {
    sessionId,
    epoch,
    environment: decodeEnvironmentRef(environment),
    ...(seed !== undefined && { seed: fromInt64(seed, "a seed") }),
    ...(task !== "" && { task }),
    ...(trace !== "" && { trace }),
    leaseMs,
    deadlineMs,
    ...(client !== undefined && { client }),
  };
}

/** Encodes the response to a reset. */
export function encodeStart({ observation, leaseMs, description }: SessionStart): wire.ResetResponse {
  return { observation: encodeObservation(observation), leaseMs, maxTurns: description.maxTurns };
}

/** Decodes a step. Throws MESSAGE_INVALID. @param trace its `traceparent`; empty for none */
export function decodeStep(request: wire.StepRequest, trace: string): SessionStep {
  const { sessionId, epoch, index, action, deadlineMs } = request;
  return {
    ...{ sessionId, epoch, index, deadlineMs },
    action: decodeAction(action),
    isDecoded: true,
    ...(trace !== "" && { trace }),
  };
}

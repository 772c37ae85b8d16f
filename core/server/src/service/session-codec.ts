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
    ...(isTrace(trace) && { trace }),
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
  return { sessionId, epoch, index, action: decodeAction(action), deadlineMs, ...(isTrace(trace) && { trace }) };
}

/** Whether a text is a `traceparent` of W3C Trace Context, whose trace and parent are not zero. A receiver ignores any other text. */
function isTrace(text: string): boolean {
  return /^[0-9a-e][0-9a-f]-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}

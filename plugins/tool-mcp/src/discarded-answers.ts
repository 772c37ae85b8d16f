import { TOO_DEEP } from "@mrlm/kit/service";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

/** Code of the error that stands in for a discarded answer. It is in the range that JSON-RPC leaves to implementations. */
export const DISCARDED = -32_099;

/** Creates the answer that stands in for one above the limit of bytes. */
export function tooLargeAnswer(id: RequestId, limit: number): JSONRPCMessage {
  const shown = limit < 2 ** 20 ? `${Math.round(limit / 2 ** 10)} KiB` : `${Math.round(limit / 2 ** 20)} MiB`;
  return discarded(id, `The answer was larger than ${shown} and was discarded.`);
}

/** Creates the answer that stands in for one that is nested too deeply. */
export function tooDeepAnswer(id: RequestId): JSONRPCMessage {
  return discarded(id, `The answer was discarded: ${TOO_DEEP}.`);
}

function discarded(id: RequestId, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: DISCARDED, message } };
}

import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

/** Code of the error that stands in for an answer above the limit. It is in the range that JSON-RPC leaves to implementations. */
export const TOO_LARGE = -32_099;

/** Creates the answer that stands in for one above the limit. */
export function tooLargeAnswer(id: RequestId, limit: number): JSONRPCMessage {
  const shown = limit < 2 ** 20 ? `${Math.round(limit / 2 ** 10)} KiB` : `${Math.round(limit / 2 ** 20)} MiB`;
  const message = `The answer was larger than ${shown} and was discarded.`;
  return { jsonrpc: "2.0", id, error: { code: TOO_LARGE, message } };
}

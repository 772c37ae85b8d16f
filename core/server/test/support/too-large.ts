import { ENVIRONMENT_SERVICE, environmentProto as wire } from "@mrlm/wire";
import type { RawClient } from "./raw-client.ts";

const PIECE_BYTES = 256 << 10;

/** Sends one byte more than the limit in the pieces of one request, then a valid request, and a unary request of as many bytes. @returns their codes */
export async function sendTooMuch(client: RawClient, limit: number): Promise<(string | number | undefined)[]> {
  const stream = client.stream();
  const piece = (data: Uint8Array) => ({
    requestId: 1n,
    request: undefined,
    cancel: false,
    chunk: { data, last: false },
    traceparent: "",
  });
  for (let sent = 0; sent <= limit; sent += PIECE_BYTES) {
    const data = Buffer.alloc(Math.min(PIECE_BYTES, limit + 1 - sent), 1);
    stream.write(wire.MultiplexRequest.encode({ requests: [piece(data)] }).finish());
  }
  stream.send(2n, { $case: "renew", renew: { sessionIds: [] } });
  const answers = await stream.received(2);
  const unary = await client.status(ENVIRONMENT_SERVICE.renew.path, Buffer.alloc(limit + 1, 1));
  return [
    ...answers.map(({ response }) => (response?.$case === "error" ? response.error.code : response?.$case)),
    unary,
  ];
}

import { connect } from "node:http2";

/**
 * Sends one message to a method of gRPC, over a connection of its own and without the secret that clients of this project send.
 * @returns the first message of the answer, or the status of an error
 */
export async function callGrpc(
  port: number,
  path: string,
  token: string,
  message: Uint8Array,
  isStream = false,
): Promise<Buffer | string> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${token}`,
    });
    let status = "";
    const read = (headers: Readonly<Record<string, unknown>>): void =>
      void (status ||= String(headers["grpc-status"] ?? ""));
    stream.on("response", read).on("trailers", read);
    let answer = Buffer.alloc(0);
    const isWhole = (): boolean => answer.length >= 5 && answer.length >= 5 + answer.readUInt32BE(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.on("data", (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (isWhole()) resolve();
    });
    stream.on("close", resolve);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    // A stream of sessions stays open after its answer.
    stream.write(Buffer.concat([prefix, message]));
    if (!isStream) stream.end();
    await promise;
    return isWhole() ? answer.subarray(5, 5 + answer.readUInt32BE(1)) : `status ${status}`;
  } finally {
    session.destroy();
  }
}

// Module for `node --import` in front of `mrlm train`: appends the calls that change an engine's weights, and its checkpoints, to the file
// RECORD_CALLS, where the client hands them to gRPC. A line is in the file before its call is on the wire.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { EngineCall } from "./engine-calls.ts";

/** The messages of the engine's protocol that are recorded, where `Message` stands for any of them. */
interface Message {
  readonly call?: bigint;
  readonly directory?: string;
  readonly modelId?: string;
  readonly open?: { readonly modelId: string };
  readonly units?: readonly object[];
  readonly gradients?: readonly { readonly microBatch: number; readonly units: readonly object[] }[];
}
interface Stream {
  write(message: Message, ...rest: unknown[]): boolean;
  end(...rest: unknown[]): unknown;
}
interface Client {
  makeUnaryRequest(
    path: string,
    serialize: unknown,
    deserialize: unknown,
    message: Message,
    ...rest: unknown[]
  ): unknown;
  makeBidiStreamRequest(path: string, ...rest: unknown[]): Stream;
}

const file = process.env["RECORD_CALLS"];
// Children of the command are not recorded.
delete process.env["NODE_OPTIONS"];
if (isMainThread && file !== undefined) intercept(file);

function intercept(target: string): void {
  const { Client } = createRequire(import.meta.resolve("@mrlm/client"))("@grpc/grpc-js") as {
    Client: { prototype: Client };
  };
  const { makeUnaryRequest, makeBidiStreamRequest } = Client.prototype;
  const record = (call: EngineCall): void => appendFileSync(target, `${JSON.stringify(call)}\n`);
  Client.prototype.makeUnaryRequest = function (path, serialize, deserialize, message, ...rest) {
    const { directory = "", modelId = "" } = message;
    if (isMethod(path, "Load")) record({ kind: "load", checkpoint: checkpointOf(directory) });
    if (isMethod(path, "Save")) record({ kind: "save", checkpoint: checkpointOf(directory) });
    if (isMethod(path, "OptimStep")) record({ kind: "step", model: modelId, digest: digestOf(message) });
    return makeUnaryRequest.call(this, path, serialize, deserialize, message, ...rest);
  };
  Client.prototype.makeBidiStreamRequest = function (path, ...rest) {
    const stream = makeBidiStreamRequest.call(this, path, ...rest);
    if (isMethod(path, "ForwardBackward")) recordPass(stream, record);
    return stream;
  };
}

/** Records a pass when its last message is sent, which is after all gradients. */
function recordPass(stream: Stream, record: (call: EngineCall) => void): void {
  const { write, end } = stream;
  const units: string[] = [];
  const gradients = new Map<number, string>();
  let open: Message["open"];
  stream.write = (message, ...rest) => {
    open ??= message.open;
    for (const unit of message.units ?? []) units.push(digestOf(unit));
    for (const { microBatch, units: known } of message.gradients ?? []) gradients.set(microBatch, digestOf(known));
    return write.call(stream, message, ...rest);
  };
  stream.end = (...rest) => {
    // Outputs of micro-batches may arrive in another order where several are computed at once.
    const inOrder = [...gradients].sort(([one], [other]) => one - other);
    record({ kind: "pass", model: open?.modelId ?? "", digest: digestOf([open, units, inOrder]) });
    return end.apply(stream, rest);
  };
}

/** The number of a call is not part of its digest: a resumed run may have published once more. */
function digestOf(content: unknown): string {
  const text = JSON.stringify(content, (key, value: unknown) => {
    if (key === "call") return undefined;
    if (typeof value === "bigint") return String(value);
    return ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")
      : value;
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isMethod(path: string, name: string): boolean {
  return path === `/mrlm.engine.v1.EngineService/${name}`;
}

/** Name of the checkpoint whose engine directory is given, also while it is written: `00000003-0.4711.partial/engine`. */
function checkpointOf(directory: string): string {
  return basename(dirname(directory)).split(".")[0] as string;
}

import type { StatusObject } from "@grpc/grpc-js";
import { Outbox } from "@mrlm/wire";
import type { Caller } from "../service/caller.ts";
import type { EnvironmentWorker } from "./environment-worker.ts";
import type { FramedStream } from "./framed-stream.ts";

/** Stream to a worker for the requests of one client. */
export interface ClientLink {
  readonly worker: EnvironmentWorker;
  readonly stream: FramedStream;
  readonly outbox: Outbox;
  /** Whether the worker sends no more. */
  isEnded: boolean;
}

/** Callbacks of a {@link ClientLink}. */
interface LinkListener {
  /** Receives a serialised MultiplexResponse. */
  onFrame(frame: Uint8Array): void;
  /** Receives an error of `onFrame`; the worker is ended. */
  onFault(error: unknown): void;
  /** The worker accepts more. */
  onDrained(): void;
  /** Receives the status of gRPC with which the worker ended the stream of the client. */
  onFailure(status: StatusObject): void;
  onEnd(): void;
}

/** Opens a stream to a worker. */
export function openClientLink(worker: EnvironmentWorker, caller: Caller, listener: LinkListener): ClientLink {
  const stream = worker.open(caller);
  const outbox = new Outbox((frame) => stream.writableEnded || stream.destroyed || stream.write(frame));
  const link: ClientLink = { worker, stream, outbox, isEnded: false };
  stream.on("data", (frame: Uint8Array) => {
    try {
      listener.onFrame(frame);
    } catch (error) {
      // Code of a plugin has written to the stream, or has replaced the codec.
      listener.onFault(error);
      worker.process.kill("it wrote a response that cannot be read");
    }
  });
  stream.on("drain", () => {
    outbox.drained();
    listener.onDrained();
  });
  stream.on("failure", (status: StatusObject) => listener.onFailure(status));
  for (const event of ["end", "close"])
    stream.on(event, () => {
      link.isEnded = true;
      listener.onEnd();
    });
  return link;
}

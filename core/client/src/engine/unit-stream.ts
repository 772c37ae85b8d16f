import type { ClientDuplexStream } from "@grpc/grpc-js";
import { type EngineUnit, MrlmError, type UnitGradients } from "@mrlm/spec";
import { unitCodec, type engineProto, FRAME_BYTES } from "@mrlm/wire";

/** Splits units into messages of about FRAME_BYTES, so that the engine can start before the last has arrived. */
export function* unitMessages(
  units: readonly EngineUnit[],
  gradients?: readonly UnitGradients[],
): Generator<engineProto.Unit[]> {
  let message: engineProto.Unit[] = [];
  let bytes = 0;
  for (const [i, unit] of units.entries()) {
    const size = unitBytes(unit, gradients?.[i]);
    if (message.length > 0 && bytes + size > FRAME_BYTES) {
      yield message;
      message = [];
      bytes = 0;
    }
    message.push(unitCodec.encode(unit, gradients?.[i]));
    bytes += size;
  }
  if (message.length > 0) yield message;
}

/** Estimates the size of a unit on the wire, in bytes. */
function unitBytes({ sequences }: EngineUnit, gradients?: UnitGradients): number {
  let bytes = 8;
  for (const { tokens, mask } of sequences) bytes += tokens.byteLength + mask.byteLength + 24;
  return (
    bytes +
    (gradients?.logprob?.byteLength ?? 0) +
    (gradients?.entropy?.byteLength ?? 0) +
    (gradients?.value?.byteLength ?? 0)
  );
}

/**
 * Sends messages as fast as the stream accepts them while `onResponse` reads. Resolves when the engine has ended the stream; rejects
 * with the error of the stream.
 */
export function converse<Request, Response>(
  stream: ClientDuplexStream<Request, Response>,
  requests: Iterable<Request>,
  onResponse: (response: Response) => void,
  options: { readonly signal?: AbortSignal | undefined; readonly endAfterRequests: boolean },
): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      stream.cancel();
      reject(new MrlmError("CANCELLED", "A call to the engine was cancelled.", { cause: signal?.reason }));
    };
    const settle = (finish: () => void): void => {
      signal?.removeEventListener("abort", abort);
      finish();
    };
    const failed = (error: unknown): void => {
      stream.cancel();
      settle(() => reject(error));
    };
    stream.on("error", (error) => settle(() => reject(error)));
    stream.on("end", () => settle(resolve));
    stream.on("data", (response: Response) => {
      try {
        onResponse(response);
      } catch (error) {
        failed(error);
      }
    });
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    send(stream, requests, options.endAfterRequests).catch(failed);
  });
}

async function send<Request, Response>(
  stream: ClientDuplexStream<Request, Response>,
  requests: Iterable<Request>,
  end: boolean,
): Promise<void> {
  for (const request of requests) {
    if (stream.destroyed) return;
    if (!stream.write(request))
      await new Promise<void>((resolve) => void stream.once("drain", resolve).once("close", resolve));
  }
  if (end) stream.end();
}

import type { ClientDuplexStream } from "@grpc/grpc-js";
import {
  type EngineUnit,
  type ForwardBackwardOptions,
  type ForwardBackwardResult,
  MrlmError,
  type UnitGradients,
  type UnitLoss,
  type UnitOutputs,
} from "@mrlm/spec";
import type { Trainer } from "@mrlm/spec/host";
import {
  outputsCodec,
  gradientsCodec,
  selectionCodec,
  unitCodec,
  ENGINE_SERVICE,
  engineProto,
  FRAME_BYTES,
} from "@mrlm/wire";
import type { EngineConnection } from "./engine-connection.ts";

type ForwardOptions = Parameters<Trainer["forward"]>[0];

/** Computes the per-token outputs of every unit, in the order of the units. */
export function remoteForward(connection: EngineConnection, options: ForwardOptions): Promise<readonly UnitOutputs[]> {
  const { model, units, outputs, temperature = 1, signal } = options;
  return connection.call(async (channel) => {
    const results = new Array<UnitOutputs>(units.length);
    await converse(
      connection.open(channel, ENGINE_SERVICE.forward),
      requests(),
      ({ firstUnit, units: answered }) =>
        answered.forEach((unit, i) => (results[firstUnit + i] = outputsCodec.decode(unit, outputs))),
      { signal, endAfterRequests: true },
    );
    return results;
  }, signal);

  function* requests(): Generator<engineProto.ForwardRequest> {
    yield { open: { modelId: model, outputs: selectionCodec.encode(outputs), temperature }, units: [], end: false };
    for (const message of unitMessages(units)) yield { open: undefined, units: message, end: false };
    yield { open: undefined, units: [], end: true };
  }
}

/**
 * Runs one pass of accumulation. The gradients of a micro-batch are sent as soon as its outputs arrive, while the engine computes the
 * next. After a connection loss the same call is made again: it skips applied micro-batches, and the loss runs once per unit.
 */
export function remoteForwardBackward(
  connection: EngineConnection,
  options: ForwardBackwardOptions,
  call: bigint,
): Promise<ForwardBackwardResult> {
  const { model, units, outputs, temperature = 1, normalizer, loss, returnOutputs = false, signal } = options;
  const lossOf: UnitLoss | undefined = typeof loss === "function" ? loss : undefined;
  const known = typeof loss === "function" ? undefined : loss;
  if (known !== undefined && known.length !== units.length) {
    throw new MrlmError("GRADIENT_SHAPE", `There are gradients for ${known.length} units, but ${units.length} units.`);
  }
  const results: UnitOutputs[] = new Array<UnitOutputs>(lossOf !== undefined || returnOutputs ? units.length : 0);
  const answered: (UnitGradients | undefined)[] = new Array<UnitGradients | undefined>(
    lossOf === undefined ? 0 : units.length,
  );

  return connection.call(async (channel) => {
    const stream = connection.open(channel, ENGINE_SERVICE.forwardBackward);
    let done: engineProto.ForwardBackwardDone | undefined;
    await converse(stream, requests(), receive, { signal, endAfterRequests: lossOf === undefined });
    if (done === undefined)
      throw new MrlmError("ENGINE_FAILED", "The engine ended a pass before it reported the result.");
    return toResult(done, results);

    function receive({ event }: engineProto.ForwardBackwardResponse): void {
      if (event?.$case === "done") {
        done = event.done;
        stream.end();
      } else if (event?.$case === "microBatch") {
        answer(event.microBatch);
      }
    }

    function answer({ microBatch, unitIndices, units: found, applied }: engineProto.MicroBatchOutputs): void {
      const gradients = unitIndices.map((index, i) => {
        const decoded = outputsCodec.decode(found[i] as engineProto.UnitOutputs, outputs);
        results[index] ??= decoded;
        if (lossOf !== undefined) answered[index] ??= lossOf(index, decoded);
        return answered[index];
      });
      if (lossOf === undefined || applied) return;
      stream.write({
        open: undefined,
        units: [],
        end: false,
        gradients: [{ microBatch, units: gradients.map((unit) => gradientsCodec.encode(unit as UnitGradients)) }],
      });
    }
  }, signal);

  function* requests(): Generator<engineProto.ForwardBackwardRequest> {
    const kind = lossOf === undefined ? engineProto.LossKind.LOSS_KIND_LINEAR : engineProto.LossKind.LOSS_KIND_CLIENT;
    yield {
      open: {
        call,
        modelId: model,
        outputs: selectionCodec.encode(outputs),
        temperature,
        loss: kind,
        normalizer,
        returnOutputs,
      },
      units: [],
      end: false,
      gradients: [],
    };
    for (const message of unitMessages(units, known))
      yield { open: undefined, units: message, end: false, gradients: [] };
    yield { open: undefined, units: [], end: true, gradients: [] };
  }
}

function toResult(done: engineProto.ForwardBackwardDone, outputs: UnitOutputs[]): ForwardBackwardResult {
  return {
    outputs,
    microBatches: done.microBatches,
    tokens: Number(done.tokens),
    computedTokens: Number(done.computedTokens),
    seconds: { forward: done.forwardSeconds, backward: done.backwardSeconds },
    memoryRetries: done.memoryRetries,
    microBatchTokens: done.microBatchTokens,
  };
}

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

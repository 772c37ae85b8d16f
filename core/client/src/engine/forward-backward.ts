import {
  type ForwardBackwardOptions,
  type ForwardBackwardResult,
  MrlmError,
  type UnitGradients,
  type UnitLoss,
  type UnitOutputs,
} from "@mrlm/spec";
import { outputsCodec, gradientsCodec, selectionCodec, engineProto, ENGINE_SERVICE } from "@mrlm/wire";
import type { EngineConnection } from "./engine-connection.ts";
import { converse, unitMessages } from "./unit-stream.ts";

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

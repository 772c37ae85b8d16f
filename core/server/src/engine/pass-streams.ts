import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { ForwardBackwardResult, UnitGradients, UnitOutputs } from "@mrlm/spec";
import {
  FRAME_BYTES,
  selectionCodec,
  unitCodec,
  outputsCodec,
  invalid,
  statusOfError,
  toInt64,
  engineProto as wire,
} from "@mrlm/wire";
import { MicroBatches } from "./micro-batches.ts";
import type { NumberedCalls } from "../numbered-calls.ts";
import type { ServedEngine } from "./served-engine.ts";

/** Handles Forward: per-token outputs without a graph. */
export async function serveForward(
  engine: ServedEngine,
  call: ServerDuplexStream<wire.ForwardRequest, wire.ForwardResponse>,
): Promise<void> {
  try {
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    let open: wire.ForwardOpen | undefined;
    const units: wire.Unit[] = [];
    call.on("data", (message: wire.ForwardRequest) => {
      open ??= message.open;
      units.push(...message.units);
      if (message.end) resolve();
    });
    await complete;
    if (open === undefined) throw invalid("a forward pass does not begin with its model");
    const { modelId: model, outputs, temperature } = open;
    const results = await engine.forward({
      model,
      units: units.map(unitCodec.decode),
      outputs: selectionCodec.decode(outputs),
      temperature,
    });
    for (const message of inMessages(results)) call.write(message);
    call.end();
  } catch (error) {
    call.emit("error", statusOfError(error));
  }
}

function* inMessages(results: readonly UnitOutputs[]): Generator<wire.ForwardResponse> {
  let message: wire.ForwardResponse = { firstUnit: 0, units: [] };
  let bytes = 0;
  for (const [i, outputs] of results.entries()) {
    const size = Object.values(outputs as Record<string, Float32Array>).reduce(
      (sum, { byteLength }) => sum + byteLength,
      16,
    );
    if (message.units.length > 0 && bytes + size > FRAME_BYTES) {
      yield message;
      message = { firstUnit: i, units: [] };
      bytes = 0;
    }
    message.units.push(outputsCodec.encode(outputs));
    bytes += size;
  }
  if (message.units.length > 0) yield message;
}

/** Passes that wait for gradients from their client, by call number. */
export type PassesUnderWay = Map<bigint, MicroBatches>;

/** Handles ForwardBackward: sends outputs to the client, receives gradients, accumulates. */
export async function serveForwardBackward(
  engine: ServedEngine,
  { calls, passes }: { readonly calls: NumberedCalls; readonly passes: PassesUnderWay },
  call: ServerDuplexStream<wire.ForwardBackwardRequest, wire.ForwardBackwardResponse>,
): Promise<void> {
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  let open: wire.ForwardBackwardOpen | undefined;
  const units: wire.Unit[] = [];
  const batches = new MicroBatches((microBatch) => call.write({ event: { $case: "microBatch", microBatch } }));
  call.on("data", (message: wire.ForwardBackwardRequest) => {
    open ??= message.open;
    units.push(...message.units);
    for (const gradients of message.gradients) batches.answer(gradients);
    if (message.end) resolve();
  });
  call.on("cancelled", () => batches.cancel());
  try {
    await complete;
    if (open === undefined) throw invalid("a pass does not begin with its model");
    const request = open;
    // A repeated call may arrive before the server detects that the first connection is lost.
    passes.get(request.call)?.cancel();
    await calls.settled(request.call);
    passes.set(request.call, batches);
    const repeated = request.call !== 0n && calls.last >= request.call;
    const result = await calls.run(request.call, () => accumulate(engine, request, units, batches));
    if (repeated) batches.repeat(result.outputs);
    call.write({ event: { $case: "done", done: encodeDone(result) } });
    call.end();
  } catch (error) {
    call.emit("error", statusOfError(error));
  } finally {
    for (const [number, other] of passes) if (other === batches) passes.delete(number);
  }
}

async function accumulate(
  engine: ServedEngine,
  open: wire.ForwardBackwardOpen,
  units: readonly wire.Unit[],
  batches: MicroBatches,
): Promise<ForwardBackwardResult> {
  const { modelId: model, outputs, temperature, normalizer, loss: kind, returnOutputs } = open;
  const isLinear = kind === wire.LossKind.LOSS_KIND_LINEAR;
  const loss: readonly UnitGradients[] | MicroBatches["request"] = isLinear
    ? units.map(unitCodec.decodeGradients)
    : (index, found) => batches.request(index, found);
  const result = await engine.accumulate({
    model,
    units: units.map(unitCodec.decode),
    outputs: selectionCodec.decode(outputs),
    temperature,
    normalizer,
    loss,
    returnOutputs,
  });
  if (isLinear && returnOutputs) batches.repeat(result.outputs);
  return result;
}

function encodeDone({
  microBatches,
  tokens,
  computedTokens,
  seconds,
  memoryRetries,
  microBatchTokens,
}: ForwardBackwardResult): wire.ForwardBackwardDone {
  return {
    microBatches,
    tokens: toInt64(tokens, "tokens"),
    computedTokens: toInt64(computedTokens, "tokens"),
    forwardSeconds: seconds.forward,
    backwardSeconds: seconds.backward,
    memoryRetries,
    microBatchTokens,
  };
}

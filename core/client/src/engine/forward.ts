import type { UnitOutputs } from "@mrlm/spec";
import type { Trainer } from "@mrlm/spec/host";
import { outputsCodec, selectionCodec, type engineProto, ENGINE_SERVICE } from "@mrlm/wire";
import type { EngineConnection } from "./engine-connection.ts";
import { converse, unitMessages } from "./unit-stream.ts";

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

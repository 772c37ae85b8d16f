import type { EngineUnit, UnitGradients } from "@mrlm/spec";
import { encodeUnit, type engineProto, FRAME_BYTES, unitBytes } from "@mrlm/wire";

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
    message.push(encodeUnit(unit, gradients?.[i]));
    bytes += size;
  }
  if (message.length > 0) yield message;
}

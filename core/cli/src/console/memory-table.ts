import { type RunMemory, shownBytes } from "@mrlm/runtime";
import type { MemoryEstimate } from "@mrlm/spec/host";
import { table } from "./table.ts";

/** Lines below this share of the sum are combined in one line. */
const SMALL = 0.02;

/** Formats the estimated memory of a run as a table for each device, with the sum and the available memory. */
export function memoryTable({ stage, others = [], ...memory }: RunMemory): string {
  return [memory, ...others].map((estimate) => deviceTable(stage, estimate)).join("\n");
}

function deviceTable(stage: string, memory: MemoryEstimate): string {
  const { lines, totalBytes, availableBytes, availableFrom, engine } = memory;
  const large = lines.filter(({ bytes }) => bytes >= SMALL * totalBytes);
  const rest = totalBytes - large.reduce((sum, { bytes }) => sum + bytes, 0);
  const free =
    availableBytes === 0
      ? "the system does not report the available memory"
      : `${shownBytes(availableBytes)} free (${availableFrom}, a tenth kept in reserve)`;
  const rows = [
    ...large.map(({ model, part, bytes, formula }) => [`${model}: ${part}`, shownBytes(bytes), formula]),
    ...(rest > 0 ? [["the rest", shownBytes(rest), ""]] : []),
    ["all", shownBytes(totalBytes), free],
  ];
  const heading = `memory of ${stage}${engine === undefined ? "" : ` on ${engine}`}, estimated`;
  return table([[heading, "bytes", "from"], ...rows]);
}

import { availableParallelism, cpus } from "node:os";

/** Returns the name of the machine's processor, and the number of its cores. */
export function processor(): string {
  return `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores`;
}

/** Returns the machine with its load before the benchmark. */
export function loadedMachine(load: number | undefined): object {
  return { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load };
}

/** Prints the last line of a benchmark: its figures by name, as one JSON object. */
export function printFigures(
  bench: string,
  machine: string | object,
  figures: Readonly<Record<string, unknown>>,
): void {
  console.log(JSON.stringify({ bench, machine, figures }));
}

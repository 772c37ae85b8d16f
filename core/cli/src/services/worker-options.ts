import type { EnvironmentSource } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/** Returns the number of workers. Default: 1 for a server that was started by hand and offers a plugin of others, else 0. */
export function workerCount(
  given: number | undefined,
  { source, isSpawned }: { readonly source: EnvironmentSource; readonly isSpawned: boolean },
): number {
  if (given !== undefined) return given;
  const isOurs = (id: string): boolean => source.packageOf(id)?.name.startsWith("@mrlm/") === true;
  return isSpawned || source.environments().every(isOurs) ? 0 : 1;
}

/** Returns the memory limit of a worker. Throws USAGE without workers. */
export function workerMemory(given: number | undefined, workers: number): number | undefined {
  if (given === undefined || workers > 0) return given;
  throw new MrlmError("USAGE", "--worker-memory-mb limits workers, and this server has none.", {
    hint: "Start it with workers: mrlm serve --workers 1 --worker-memory-mb 1024.",
  });
}

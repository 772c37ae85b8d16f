import type { EnvironmentSource } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

const MAX_WORKERS = 256;
/** A worker with the packages of this project takes about this much memory, in MiB. */
const LEAST_MEMORY_MB = 128;

/**
 * Returns the number of workers. Default: 1 for a server that was started by hand and offers a plugin of others, else 0. Throws USAGE for anything but a
 * number that can be.
 */
export function workerCount(
  given: string | undefined,
  { source, isSpawned }: { readonly source: EnvironmentSource; readonly isSpawned: boolean },
): number {
  if (given === undefined) {
    const isOurs = (id: string): boolean => source.packageOf(id)?.name.startsWith("@mrlm/") === true;
    return isSpawned || source.environments().every(isOurs) ? 0 : 1;
  }
  const count = Number(given);
  if (!/^\d+$/.test(given) || count > MAX_WORKERS)
    throw new MrlmError("USAGE", `--workers ${given} is not a whole number from 0 to ${MAX_WORKERS}.`, {
      hint: "Give the number of processes that host environments, at most one for each core; 0 for the server process.",
    });
  return count;
}

/** Returns the memory limit of a worker. Throws USAGE for anything but a whole number that leaves room for the host, and without workers. */
export function workerMemory(given: string | undefined, workers: number): number | undefined {
  if (given === undefined) return undefined;
  if (workers === 0)
    throw new MrlmError("USAGE", "--worker-memory-mb limits workers, and this server has none.", {
      hint: "Start it with workers: mrlm serve --workers 1 --worker-memory-mb 1024.",
    });
  const megabytes = Number(given);
  if (!/^\d+$/.test(given) || megabytes < LEAST_MEMORY_MB)
    throw new MrlmError("USAGE", `--worker-memory-mb ${given} is not a whole number from ${LEAST_MEMORY_MB} on.`, {
      hint: `A worker takes about ${LEAST_MEMORY_MB} MiB before it has a session.`,
    });
  return megabytes;
}

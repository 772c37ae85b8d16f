import { statfsSync } from "node:fs";
import { MrlmError } from "@mrlm/spec";
import type { TorchBuild } from "../torch/torch-build.ts";

/** Bytes of an environment, with the files that pip unpacks temporarily. */
const NEEDED_BYTES: Readonly<Record<TorchBuild["kind"], number>> = { cpu: 2.5e9, locked: 10e9, index: 10e9 };

/** Bytes of an added extra. */
const EXTRA_BYTES = 0.3e9;

/** Checks the free space. @throws SETUP_FAILED if the disk of the directory has too little for an environment with this build of torch, or for one more extra. */
export function checkDiskSpace(
  directory: string,
  kind: TorchBuild["kind"] | "extra",
  free: number = freeBytes(directory),
): void {
  const needed = kind === "extra" ? EXTRA_BYTES : neededOn(process.platform, kind);
  if (free >= needed) return;
  const message = `Setting up the engine takes about ${gigabytes(needed)}, and the disk of ${directory} has ${gigabytes(free)} left.`;
  throw new MrlmError("SETUP_FAILED", message, {
    hint: "Free some space, or set MRLM_CACHE to a directory on another disk.",
  });
}

function neededOn(platform: NodeJS.Platform, kind: TorchBuild["kind"]): number {
  // Only the Linux wheels of the lock file contain CUDA.
  return platform === "linux" ? NEEDED_BYTES[kind] : NEEDED_BYTES.cpu;
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";
import type { Extra } from "./lock-files.ts";

/**
 * What a finished environment says of itself. It is written last, so a directory without one is the remains of a setup
 * that was stopped.
 */
export interface Stamp {
  /** Complete extras. */
  readonly extras: readonly Extra[];
  /** The interpreter behind the environment's links. One that has moved or been replaced makes the environment useless. */
  readonly interpreter: string;
  /** Versions of Python and of the main packages, as the environment itself reported them. */
  readonly versions: Readonly<Record<string, string>>;
}

const FILE = "mrlm-environment.json";

/** The environment's interpreter. */
export function executableOf(directory: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? join(directory, "Scripts", "python.exe") : join(directory, "bin", "python");
}

/** Marks an environment as complete. */
export function writeStamp(directory: string, stamp: Omit<Stamp, "interpreter">): void {
  writeJson(join(directory, FILE), { ...stamp, interpreter: realpathSync(executableOf(directory)) });
}

/** The stamp of a usable environment; `undefined` where it is incomplete or its interpreter has gone. */
export function readStamp(directory: string): Stamp | undefined {
  const stamp = readJson<Stamp>(join(directory, FILE));
  try {
    return stamp !== undefined && realpathSync(executableOf(directory)) === stamp.interpreter ? stamp : undefined;
  } catch {
    return undefined;
  }
}

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";

/**
 * Description of a finished environment. It is written last, so a directory without one is the remains of an
 * interrupted setup.
 */
export interface Stamp {
  /** Completely installed extras: sets of packages that are added later. */
  readonly extras: readonly string[];
  /** Path of the interpreter that the environment links to. If it was moved or replaced, the environment is unusable. */
  readonly interpreter: string;
  /** Versions of Python and of the main packages, as reported by the environment. */
  readonly versions: Readonly<Record<string, string>>;
}

const FILE = "mrlm-environment.json";

/** Returns the path of the environment's interpreter. */
export function executableOf(directory: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? join(directory, "Scripts", "python.exe") : join(directory, "bin", "python");
}

/** Marks an environment as complete. */
export function writeStamp(directory: string, stamp: Omit<Stamp, "interpreter">): void {
  writeJson(join(directory, FILE), { ...stamp, interpreter: realpathSync(executableOf(directory)) });
}

/** Reads the stamp of a usable environment. Returns `undefined` if the environment is incomplete or its interpreter is missing. */
export function readStamp(directory: string): Stamp | undefined {
  const stamp = readJson<Stamp>(join(directory, FILE));
  try {
    return stamp !== undefined && realpathSync(executableOf(directory)) === stamp.interpreter ? stamp : undefined;
  } catch {
    return undefined;
  }
}

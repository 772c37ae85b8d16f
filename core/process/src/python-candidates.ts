import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SUPPORTED_MINORS } from "./python-versions.ts";

/** A command that may start a Python. */
export interface PythonCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Places to search for a Python. */
export interface PythonSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Returns all executables of a name on PATH. */
  readonly find: (name: string) => readonly string[];
}

export function searchOfMachine(env: NodeJS.ProcessEnv = process.env): PythonSearch {
  return { env, platform: process.platform, find: (name) => findOnPath(name, env) };
}

/**
 * Lists the Pythons to try, best first: `python3`, then the named versions from the newest. On Windows the
 * `py` launcher knows the installed versions.
 */
export function pythonCandidates({ platform, find }: PythonSearch): PythonCommand[] {
  const minors = SUPPORTED_MINORS.toReversed();
  const names = ["python3", "python", ...minors.map((minor) => `python3.${minor}`)];
  const onPath = names.flatMap((name) => find(name).map((command) => ({ command, args: [] })));
  const launcher = platform === "win32" ? find("py")[0] : undefined;
  if (launcher === undefined) return onPath;
  return [...minors.map((minor) => ({ command: launcher, args: [`-3.${minor}`] })), ...onPath];
}

/** Whether a path is a file that this user may execute. */
function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns all executables of this name on PATH, in order. A shim of a version manager may be before a working program of the same
 * name, so the first one is not enough.
 */
export function findOnPath(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  isRunnable: (path: string) => boolean = isExecutable,
): string[] {
  const directories = (env["PATH"] ?? env["Path"] ?? "").split(platform === "win32" ? ";" : delimiter);
  const file = platform === "win32" ? `${name}.exe` : name;
  const paths = directories.filter((directory) => directory !== "").map((directory) => join(directory, file));
  return [...new Set(paths)].filter(isRunnable);
}

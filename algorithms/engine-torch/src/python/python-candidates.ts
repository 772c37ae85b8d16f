import { findOnPath } from "../process/find-on-path.ts";
import { SUPPORTED_MINORS } from "./python-versions.ts";

/** A way to start some Python. */
export interface PythonCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where to look for one. */
export interface PythonSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** All executables of a name on PATH. */
  readonly find: (name: string) => readonly string[];
}

/** The search on this machine. */
export function searchOfMachine(env: NodeJS.ProcessEnv = process.env): PythonSearch {
  return { env, platform: process.platform, find: (name) => findOnPath(name, env) };
}

/**
 * The Pythons to try, best first: what the user calls `python3`, then the named versions from the newest. On Windows the
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

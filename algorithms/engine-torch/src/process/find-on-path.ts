import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a path is a file that this user may execute. */
export function isExecutable(path: string): boolean {
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

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a path is a file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Every executable of that name on PATH, in order. A version manager's shim may stand before a working program of the same
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

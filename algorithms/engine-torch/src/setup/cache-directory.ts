import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";

/**
 * The user's cache of engine environments, shared by all projects: `MRLM_CACHE`, or `mrlm` in the platform's cache directory.
 * An empty variable counts as unset.
 */
export function cacheDirectory(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  if (env["MRLM_CACHE"]) return resolve(env["MRLM_CACHE"]);
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "mrlm", "Cache");
  if (platform === "darwin") return join(home, "Library", "Caches", "mrlm");
  return join(env["XDG_CACHE_HOME"] || join(home, ".cache"), "mrlm");
}

/** Makes a directory in the cache. @throws SETUP_FAILED where that is not allowed. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new MrlmError("SETUP_FAILED", `The cache directory ${directory} cannot be made: ${(error as Error).message}`, {
      hint: "Set MRLM_CACHE to a directory that you can write to.",
      cause: error,
    });
  }
}

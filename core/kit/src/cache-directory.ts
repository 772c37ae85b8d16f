import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Returns the directory of the user for files that take long to create, shared by all projects: `MRLM_CACHE`, or `mrlm` in the cache directory of the
 * platform. An empty variable counts as unset.
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

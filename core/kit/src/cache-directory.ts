import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * The user's cache of what takes long to make, shared by all projects: `MRLM_CACHE`, or `mrlm` in the platform's cache directory.
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

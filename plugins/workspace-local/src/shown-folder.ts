import { realpathSync, statSync } from "node:fs";
import { MrlmError } from "@mrlm/kit";

/** Returns the real path of a folder that workspaces show. Throws OPTIONS_INVALID where there is none. */
export function shownFolder(name: string, path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return realpathSync(path);
  throw new MrlmError("OPTIONS_INVALID", `${path}, which workspaces are to show as ${name}, is no folder.`, {
    hint: "Name a folder of this machine in `folders`, relative to the configuration.",
  });
}

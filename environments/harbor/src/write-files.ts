import { posix } from "node:path";
import type { Workspace } from "@mrlm/spec";
import { shellQuoted } from "./task/dockerfile.ts";
import type { TaskFile } from "./task/folder-files.ts";

/** Writes files below a folder of a workspace, with the right to be run. */
export async function writeFiles(workspace: Workspace, folder: string, files: readonly TaskFile[]): Promise<void> {
  const programs: string[] = [];
  for (const { path, bytes, isExecutable } of files) {
    const to = posix.join(folder, path);
    await workspace.writeFile(to, bytes);
    // A workspace gives the right to what begins with #!.
    if (isExecutable && (bytes[0] !== 0x23 || bytes[1] !== 0x21)) programs.push(shellQuoted(to));
  }
  if (programs.length > 0) await workspace.exec(`chmod +x ${programs.join(" ")}`);
}

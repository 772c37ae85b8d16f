import { lstat, readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileFault, MrlmError, type Workspace } from "@mrlm/spec";

/** File of a folder. */
export interface FolderFile {
  /** Path relative to the folder that was read, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** Reads all files below a folder in the order of their paths; none where it is missing. Rejects with DATA_INVALID for a link, which may lead out of the folder. */
export async function folderFiles(folder: string): Promise<FolderFile[]> {
  const files: FolderFile[] = [];
  const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw new MrlmError("DATA_INVALID", `${folder}: the folder cannot be read: ${fileFault(error)}.`);
  });
  for (const path of names.toSorted()) {
    const full = join(folder, path);
    const stat = await lstat(full);
    if (stat.isFile())
      files.push({ path, bytes: new Uint8Array(await readFile(full)), isExecutable: (stat.mode & 0o111) !== 0 });
    else if (!stat.isDirectory())
      throw new MrlmError("DATA_INVALID", `${full}: the folder of a task has only files and folders.`, {
        hint: "Replace the link by its file.",
      });
  }
  return files;
}

/** Writes files below a folder of a workspace, with the right to be run. */
export async function writeFiles(workspace: Workspace, folder: string, files: readonly FolderFile[]): Promise<void> {
  const programs: string[] = [];
  for (const { path, bytes, isExecutable } of files) {
    const to = posix.join(folder, path);
    await workspace.writeFile(to, bytes);
    // A workspace gives the right to what begins with #!.
    if (isExecutable && (bytes[0] !== 0x23 || bytes[1] !== 0x21)) programs.push(to);
  }
  if (programs.length > 0) await workspace.exec("xargs -0 chmod +x", { stdin: programs.join("\0") });
}

import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileFault } from "@mrlm/kit/service";
import { invalidTask, isMissing } from "./place.ts";

/** File of a task. */
export interface TaskFile {
  /** Path relative to the folder that was read, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** Reads all files below a folder in the order of their paths; none where it is missing. Rejects with DATA_INVALID for a link, which may lead out of the task. */
export async function folderFiles(folder: string): Promise<TaskFile[]> {
  const files: TaskFile[] = [];
  const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw invalidTask(folder, `the folder cannot be read: ${fileFault(error)}`);
  });
  for (const path of names.toSorted()) {
    const full = join(folder, path);
    const stat = await lstat(full);
    if (stat.isFile())
      files.push({ path, bytes: new Uint8Array(await readFile(full)), isExecutable: (stat.mode & 0o111) !== 0 });
    else if (!stat.isDirectory())
      throw invalidTask(full, "a task has only files and folders", "Replace the link by its file.");
  }
  return files;
}

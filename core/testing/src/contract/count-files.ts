import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Files of installed packages and of version control are many, and not those of an episode. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** A working directory can be a whole disk. */
const MAX_FILES = 5_000;

/** Returns how many levels of a folder can be counted in a short time: all of most, the outermost of a large one. */
export async function countableLevels(folder: string, others: readonly string[]): Promise<number> {
  let [count, depth] = [0, 0];
  for await (const files of levels(folder, others)) {
    count += files;
    if (count > MAX_FILES) return Math.max(1, depth);
    depth++;
  }
  return Number.POSITIVE_INFINITY;
}

/** Counts the files and folders in the outermost levels of a folder. Leaves out the folders of `others`. */
export async function countFiles(folder: string, others: readonly string[], depth: number): Promise<number> {
  let [count, level] = [0, 0];
  for await (const files of levels(folder, others)) {
    count += files;
    if (++level >= depth) break;
  }
  return count;
}

/** Yields the number of files and folders of each level. */
async function* levels(folder: string, others: readonly string[]): AsyncGenerator<number> {
  for (let folders = [folder]; folders.length > 0;) {
    const inner: string[] = [];
    let count = 0;
    for (const path of folders)
      // It can be removed meanwhile.
      for (const entry of await readdir(path, { withFileTypes: true }).catch((): Dirent[] => [])) {
        if (SKIPPED.has(entry.name) || others.includes(join(path, entry.name))) continue;
        count++;
        if (entry.isDirectory()) inner.push(join(path, entry.name));
      }
    yield count;
    folders = inner;
  }
}

import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";

/** Files that a folder may have already: the beginning of a repository. They stay as they are. */
const ALLOWED = /^(\.git|readme(\.\w+)?|licen[cs]e(\.\w+)?)$/i;

/** Files of a new project. */
export interface Written {
  /** Files that existed and stay as they are. */
  readonly kept: readonly string[];
}

/**
 * Throws OUTPUT_INVALID if a folder holds more than the beginning of a repository.
 * @param isMerge whether other files may stay beside those of the project
 */
export function assertTarget(folder: string, isMerge: boolean): void {
  const entries = entriesOf(folder);
  const conflicts = entries.filter((name) => !ALLOWED.test(name));
  if (isMerge || conflicts.length === 0) return;
  const named = conflicts.slice(0, 10).join(", ");
  const more = conflicts.length > 10 ? ` and ${conflicts.length - 10} more` : "";
  throw new MrlmError("OUTPUT_INVALID", `${folder} is not empty: it holds ${named}${more}.`, {
    hint: "Choose another name, empty the folder, or add --merge, which keeps every file that exists.",
  });
}

/**
 * Writes the files of a project. They are written beside the folder and moved into it when all are complete, so that a killed process leaves no part of a
 * project. Files that exist are kept.
 * @throws OUTPUT_INVALID where the folder cannot be made or written
 */
export function writeProject(folder: string, files: ReadonlyMap<string, string>): Written {
  assertFolders(folder, files.keys());
  const kept = [...files.keys()].filter((path) => isEntry(join(folder, path)) || hasOther(folder, path));
  const added = [...files].filter(([path]) => !kept.includes(path));
  let staged: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    removeAbandoned(folder);
    staged = join(dirname(folder), `${stagingPrefix(folder)}${process.pid}`);
    mkdirSync(staged);
    for (const [path, text] of added) {
      mkdirSync(dirname(join(staged, path)), { recursive: true });
      writeFileSync(join(staged, path), text);
    }
    if (entriesOf(folder).length === 0) renameSync(staged, folder);
    else
      moveInto(
        folder,
        staged,
        added.map(([path]) => path),
      );
  } catch (error) {
    throw new MrlmError("OUTPUT_INVALID", `The project cannot be written to ${folder}: ${writeFault(error)}.`, {
      cause: error,
    });
  } finally {
    if (staged !== undefined) rmSync(staged, { recursive: true, force: true });
  }
  return { kept };
}

/** Throws OUTPUT_INVALID for a file in the place of a folder of the project, before anything is written. */
function assertFolders(folder: string, paths: Iterable<string>): void {
  for (const path of paths)
    for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
      const place = join(folder, parent);
      if (!isEntry(place) || (existsSync(place) && statSync(place).isDirectory())) continue;
      throw new MrlmError("OUTPUT_INVALID", `The project cannot be written to ${folder}: ${parent} is no folder.`, {
        hint: `Move ${place} away, or choose another name.`,
      });
    }
}

/** Returns whether a path exists, also as a link that leads nowhere. */
function isEntry(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Moves files into a folder that has others. package.json is the last: without it the folder is no project. */
function moveInto(folder: string, staged: string, paths: readonly string[]): void {
  const last = (path: string): number => Number(path === "package.json");
  for (const path of [...paths].sort((a, b) => last(a) - last(b))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    renameSync(join(staged, path), join(folder, path));
  }
}

/** Returns whether the folder has this file with another ending or case: README, LICENCE.txt. */
function hasOther(folder: string, path: string): boolean {
  const kind = /^(readme|licen[cs]e)/i.exec(path)?.[0].slice(0, 5).toLowerCase();
  return (
    kind !== undefined && entriesOf(folder).some((name) => ALLOWED.test(name) && name.toLowerCase().startsWith(kind))
  );
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    const what = existsSync(folder) && !statSync(folder).isDirectory() ? "it is a file" : fileFault(error);
    throw new MrlmError("OUTPUT_INVALID", `${folder} cannot be the folder of a project: ${what}.`, {
      hint: "Choose another name, or another folder to run the command in.",
      cause: error,
    });
  }
}

function stagingPrefix(folder: string): string {
  return `.${basename(folder)}.creating-`;
}

/** Removes what killed processes left beside the folder. */
function removeAbandoned(folder: string): void {
  const parent = dirname(folder);
  const prefix = stagingPrefix(folder);
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (!isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function writeFault(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "this user may not write there";
  return code === "ENOSPC" ? "the disk is full" : fileFault(error);
}

import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";
import { isStore, runOfStore } from "@mrlm/store";

/** Run, or episode store that belongs to no run, that the server shows. */
export interface FoundRun {
  /** Its path below the given directory, with `/`: the id in addresses. */
  readonly id: string;
  readonly path: string;
}

/** Levels of directories that are searched for runs. */
const DEPTH = 4;
/** Runs that are shown; the others are left out. */
const MAX_RUNS = 2_000;

/** Finds the runs in directories, each of which is a run or holds some, or is the file of an episode store. A directory that cannot be read is left out. */
export function findRuns(directories: readonly string[]): Map<string, FoundRun> {
  const runs = new Map<string, FoundRun>();
  for (const directory of directories.map((each) => resolve(each)))
    for (const path of isRun(directory) || isStore(directory) ? [directory] : runsBelow(directory, DEPTH)) {
      if (runs.size === MAX_RUNS) return runs;
      const name = path === directory ? basename(path) : relative(directory, path).split(sep).join("/");
      // Two directories may hold runs of one name.
      let id = name;
      for (let i = 2; runs.has(id) && runs.get(id)?.path !== path; i++) id = `${name}~${i}`;
      runs.set(id, { id, path });
    }
  return runs;
}

/** Throws RUN_NOT_FOUND for a directory that cannot be read, STORE_INVALID for a database that is no episode store. */
export function assertReadable(directory: string): void {
  try {
    if (isStore(directory)) return void runOfStore(directory);
    readdirSync(directory);
  } catch (cause) {
    if (MrlmError.isInstance(cause)) throw cause;
    throw new MrlmError("RUN_NOT_FOUND", `${directory} cannot be read: ${fileFault(cause)}.`, {
      hint: "Name a run, a directory that holds runs (mrlm ui runs), or the file of `mrlm eval --store`.",
      cause,
    });
  }
}

function isRun(directory: string): boolean {
  return existsSync(join(directory, "config.yaml")) && existsSync(join(directory, "run.json"));
}

function runsBelow(directory: string, depth: number): string[] {
  if (depth === 0) return [];
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
      .map(({ name }) => join(directory, name))
      .toSorted()
      .flatMap((path) => (isRun(path) ? [path] : runsBelow(path, depth - 1)));
  } catch {
    return [];
  }
}

import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";

/** Run that the server shows. */
export interface FoundRun {
  /** Its path below the given directory, with `/`: the id in addresses. */
  readonly id: string;
  readonly path: string;
}

/** Levels of directories that are searched for runs. */
const DEPTH = 4;
/** Runs that are shown; the others are left out. */
const MAX_RUNS = 2_000;

/** Finds the runs in directories, each of which is a run or holds some. A directory that cannot be read is left out. */
export function findRuns(directories: readonly string[]): Map<string, FoundRun> {
  const runs = new Map<string, FoundRun>();
  for (const directory of directories.map((each) => resolve(each)))
    for (const path of isRun(directory) ? [directory] : runsBelow(directory, DEPTH)) {
      if (runs.size === MAX_RUNS) return runs;
      const name = path === directory ? basename(path) : relative(directory, path).split(sep).join("/");
      // Two directories may hold runs of one name.
      let id = name;
      for (let i = 2; runs.has(id) && runs.get(id)?.path !== path; i++) id = `${name}~${i}`;
      runs.set(id, { id, path });
    }
  return runs;
}

/** Throws RUN_NOT_FOUND for a directory that cannot be read. */
export function assertReadable(directory: string): void {
  try {
    readdirSync(directory);
  } catch (cause) {
    throw new MrlmError("RUN_NOT_FOUND", `${directory} cannot be read: ${fileFault(cause)}.`, {
      hint: "Name a run, or a directory that holds runs: mrlm ui runs.",
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

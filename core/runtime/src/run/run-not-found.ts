import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { didYouMean } from "../names/nearest.ts";

/**
 * Creates a RUN_NOT_FOUND error for an absolute path. It names the newest run of a directory of runs, or the run with the most similar name if the path
 * does not exist.
 * @param isNone predicate of the message if the path exists
 * @param hint replaces the hint of the error code
 */
export function runNotFound(
  path: string,
  isNone = "is neither a run directory nor a checkpoint of one: it has no config.yaml",
  hint?: string,
): MrlmError {
  const runs = runsIn(path);
  if (runs.length > 0)
    return new MrlmError("RUN_NOT_FOUND", `${path} is a directory of runs (${runs.length}): name one of them.`, {
      hint: `The newest is ${join(path, runs.at(-1) as string)}.`,
    });
  const what = existsSync(path) ? `${isNone}.` : `does not exist.${didYouMean(basename(path), runsIn(dirname(path)))}`;
  return new MrlmError("RUN_NOT_FOUND", `${path} ${what}`, hint === undefined ? {} : { hint });
}

/** Returns the names of the runs in a directory, the newest last. */
function runsIn(directory: string): string[] {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(directory).filter((name) => existsSync(join(directory, name, "run.json")));
  const time = new Map(
    names.map((name) => [
      name,
      statSync(join(directory, name, "config.yaml"), { throwIfNoEntry: false })?.birthtimeMs ?? 0,
    ]),
  );
  return names.toSorted(
    (one, other) => (time.get(one) as number) - (time.get(other) as number) || (one < other ? -1 : 1),
  );
}

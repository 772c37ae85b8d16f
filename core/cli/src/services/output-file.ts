import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { asWriteFailure } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/**
 * Makes sure, before work begins, that a result can be written there and takes nobody's place. Throws USAGE, or WRITE_FAILED where a file cannot be made.
 * Answers the absolute path.
 * @param options.besides endings of files that stand beside it while it is made
 */
export function outputFile(
  given: string,
  options: { readonly overwrite: boolean; readonly besides?: readonly string[] },
): string {
  const path = resolve(given);
  const folder = dirname(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new MrlmError("USAGE", `There is no directory ${folder} to write ${given} in.`, { hint: "Create it first." });
  for (const name of [given, ...(options.besides ?? []).map((ending) => `${given}${ending}`)]) assertPlace(name);
  if (existsSync(path) && !options.overwrite)
    throw new MrlmError("USAGE", `${given} already exists.`, { hint: "Name another file, or add --overwrite." });
  try {
    const trial = `${path}.${process.pid}.trial`;
    closeSync(openSync(trial, "wx"));
    rmSync(trial);
  } catch (error) {
    throw asWriteFailure(error, `${given} cannot be written`, "Name a file in a directory that you may write in.");
  }
  return path;
}

function assertPlace(name: string): void {
  const found = statSync(resolve(name), { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new MrlmError("USAGE", `${name} is ${found.isDirectory() ? "a directory" : "no ordinary file"}.`, {
    hint: "Name a file.",
  });
}

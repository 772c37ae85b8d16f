import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { asOutputFault } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/**
 * Checks, before work begins, that a result can be written to a path and replaces no file by accident. Throws USAGE, or OUTPUT_INVALID where
 * no file can be made.
 * @param options.besides extensions of files that are written beside it in the meantime
 * @returns the absolute path
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
    throw asOutputFault(error, `${given} cannot be written`, "Name a file in a directory that you may write in.");
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

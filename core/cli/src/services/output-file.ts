import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Makes sure, before work begins, that a result can be written there and takes nobody's place. Throws USAGE. Answers the absolute path. */
export function outputFile(given: string, overwrite: boolean): string {
  const path = resolve(given);
  const folder = dirname(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new MrlmError("USAGE", `There is no directory ${folder} to write ${given} in.`, { hint: "Make it first." });
  if (!existsSync(path)) return path;
  if (statSync(path).isDirectory()) throw new MrlmError("USAGE", `${given} is a directory.`, { hint: "Name a file." });
  if (!overwrite) throw new MrlmError("USAGE", `${given} is there already.`, { hint: "Name another file, or say --overwrite." });
  return path;
}

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Extras: packages that can be added to those of the engine. */
export const EXTRAS = ["lora", "dev"] as const;

/** Name of an extra: `lora` for adapters, `dev` for tests and linters. */
export type Extra = (typeof EXTRAS)[number];

/** Set of packages that is installed separately: those of one lock file. */
export type Part = "torch" | "base" | Extra;

/** Lock files of this package. */
export interface LockFiles {
  /** Returns the path of a part's lock file. */
  path(part: Part): string;
  /** Hash of all lock files, because all parts were resolved together. */
  readonly hash: string;
}

/** Reads the lock files of a directory. */
export function lockFiles(directory: string): LockFiles {
  const path = (part: Part): string => join(directory, `${part}.lock`);
  const hash = createHash("sha256");
  for (const part of ["torch", "base", ...EXTRAS] as const) hash.update(`${part}\n`).update(readFileSync(path(part)));
  return { path, hash: hash.digest("hex") };
}

/** Checks names of extras. @throws OPTIONS_INVALID for an unknown name. */
export function parseExtras(names: readonly string[]): Extra[] {
  const unknown = names.find((name) => !(EXTRAS as readonly string[]).includes(name));
  if (unknown === undefined) return EXTRAS.filter((extra) => names.includes(extra));
  throw new MrlmError("OPTIONS_INVALID", `The engine has no extra "${unknown}".`, {
    hint: `There are: ${EXTRAS.join(", ")}.`,
  });
}

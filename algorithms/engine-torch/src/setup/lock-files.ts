import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** What can be added to the engine's own packages. */
export const EXTRAS = ["lora", "dev"] as const;

/** One of them: `lora` for adapters, `dev` for tests and linters. */
export type Extra = (typeof EXTRAS)[number];

/** A separately installed set of packages: those of one lock file. */
export type Part = "torch" | "base" | Extra;

/** The lock files of this package. */
export interface LockFiles {
  /** Path of a part's lock file. */
  path(part: Part): string;
  /** Changes when any lock file does: all parts were resolved together. */
  readonly hash: string;
}

/** Reads the lock files of a directory. */
export function lockFiles(directory: string): LockFiles {
  const path = (part: Part): string => join(directory, `${part}.lock`);
  const hash = createHash("sha256");
  for (const part of ["torch", "base", ...EXTRAS] as const) hash.update(`${part}\n`).update(readFileSync(path(part)));
  return { path, hash: hash.digest("hex") };
}

/** Checks names of extras. @throws OPTIONS_INVALID for one that does not exist. */
export function parseExtras(names: readonly string[]): Extra[] {
  const unknown = names.find((name) => !(EXTRAS as readonly string[]).includes(name));
  if (unknown === undefined) return EXTRAS.filter((extra) => names.includes(extra));
  throw new MrlmError("OPTIONS_INVALID", `The engine has no extra "${unknown}".`, {
    hint: `There are: ${EXTRAS.join(", ")}.`,
  });
}

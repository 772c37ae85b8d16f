import type { ChildProgram } from "../program/child-program.ts";

/** First descriptor that is the wrapper's own; 3 and 4 are the child's. */
export const FIRST_EXTRA_FD = 5;

/** A command as it is spawned, after the jail has wrapped the child's own. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors from FIRST_EXTRA_FD on, which the child does not get: the wrapper says the child's process id on one, or reads bytes from it. */
  readonly descriptors: readonly ("pid" | Buffer)[];
}

/** A way to hold a child, or why there is none. */
export interface Jail {
  /** Which walls it is made of; empty: none. */
  readonly layers: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  readonly isJailed: boolean;
  launch(program: ChildProgram): Launch;
}

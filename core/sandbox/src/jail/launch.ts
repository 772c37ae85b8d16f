import type { ChildProgram } from "../program/child-program.ts";

/** First descriptor of the wrapper; 3 and 4 belong to the child. */
export const FIRST_EXTRA_FD = 5;

/** Command to spawn, after the jail has wrapped the command of the child. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Descriptors from FIRST_EXTRA_FD on, for the wrapper only: it writes the child's process id to one, or reads bytes from it, or waits for a byte before it
   * starts the program.
   */
  readonly descriptors: readonly ("pid" | "start" | Buffer)[];
}

/** Isolation by the operating system, or the reason why there is none. */
export interface Jail {
  /** Isolation layers of the jail; empty if there are none. */
  readonly layers: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  readonly isJailed: boolean;
  launch(program: ChildProgram): Launch;
  /** Path and possible parts of bubblewrap, where the jail is made by it. */
  readonly bubblewrap?: { readonly path: string; readonly seccomp: boolean; readonly proc: boolean };
}

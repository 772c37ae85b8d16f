import type { ChildProgram } from "../program/child-program.ts";

/** A command as it is spawned, after the jail has wrapped the child's own. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors from 5 on that the wrapper reads or writes and the child does not get: `"pipe"`, or one that is open here. */
  readonly extraFds: readonly ("pipe" | number)[];
  /** Index among `extraFds` of the pipe on which the wrapper says the process id of the child. */
  readonly pidFd?: number;
}

/** A way to hold a child, or why there is none. */
export interface Jail {
  /** Which walls it is made of; empty: none. */
  readonly layers: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  readonly isJailed: boolean;
  launch(program: ChildProgram): Launch;
}

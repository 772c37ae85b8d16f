import type { Command } from "commander";
import type { Console } from "./console/console.ts";

/** What every command gets beside its own options. */
export interface CommandContext {
  readonly console: Console;
  /** Directory of the project: where plugins are looked up and relative paths start. */
  readonly directory: string;
}

/** Adds a command to the program. `start` makes its context from the global options. */
export type CommandModule = (program: Command, start: () => CommandContext, finish: (exitCode: number) => void) => void;

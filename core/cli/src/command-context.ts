import type { Console } from "./console/console.ts";

/** Context that every command receives in addition to its own options. */
export interface CommandContext {
  readonly console: Console;
  /** Directory of the project: the root of the plugin look-up and of relative paths. */
  readonly directory: string;
}

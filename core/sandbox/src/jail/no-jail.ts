import type { Jail } from "./launch.ts";

/** A plain child process: its own limits and those of the parent hold it, the operating system does not. */
export function noJail(reason: string): Jail {
  return {
    layers: [],
    missing: [{ layer: "bubblewrap", reason }],
    isJailed: false,
    launch: (program) => ({ command: program.command, args: program.args, env: program.env ?? {}, extraFds: [] }),
  };
}

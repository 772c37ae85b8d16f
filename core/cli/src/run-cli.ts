import { MrlmError } from "@mrlm/spec";
import { CommanderError } from "commander";
import { reportError } from "./console/report-error.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { createProgram } from "./program.ts";

/** Runs one command line and answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const { command, context } = createProgram((code) => (exitCode = code));
  // A reader that has seen enough (`| head`) is no fault.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" ? process.exit(EXIT.ok) : reportError(context().console, error)));
  try {
    await command.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.invalid;
    reportError(context().console, error);
    return MrlmError.isInstance(error) && error.code === "CANCELLED" ? EXIT.interrupted : exitCodeOf(error);
  }
}

import { MrlmError } from "@mrlm/spec";
import { CommanderError } from "@commander-js/extra-typings";
import { createConsole, type OutputStreams } from "./console/console.ts";
import { reportError } from "./console/report-error.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { createProgram } from "./program.ts";

/** Runs one command line. Returns the exit code. */
export async function runCli(args: readonly string[], { stdout, stderr }: OutputStreams = process): Promise<number> {
  let exitCode: number = EXIT.ok;
  const console = createConsole({ json: args.includes("--json"), stdout, stderr });
  const program = createProgram((code) => (exitCode = code), { stdout, stderr });
  // A reader that closes the pipe early (`| head`) is no error.
  stdout.on("error", (error: NodeJS.ErrnoException) =>
    error.code === "EPIPE" ? process.exit(EXIT.ok) : reportError(console, error),
  );
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      reportError(console, error);
      return MrlmError.isInstance(error) && error.code === "CANCELLED" ? EXIT.interrupted : exitCodeOf(error);
    }
    if (error.exitCode === 0) return EXIT.ok;
    const command = program.commands.find((each) => each.name() === args[0])?.name();
    // Commander has already printed the help.
    if (error.code !== "commander.help") reportError(console, usageError(error, command));
    return EXIT.invalid;
  }
}

/** Converts an error of the parser to the form of every other error. */
function usageError({ message }: CommanderError, command: string | undefined): MrlmError {
  const [what = "", suggestion = ""] = message
    .replace(/^error: /, "")
    .replace(/\.$/, "")
    .split("\n");
  const nearest = suggestion === "" ? "" : ` ${suggestion.replace(/^\(|\)$/g, "")}`;
  const file = /^too many arguments for '(?:train|serve)'.* got 1: (\S+\.ya?ml)$/.exec(what)?.[1];
  return new MrlmError(
    "USAGE",
    `${what.charAt(0).toUpperCase()}${what.slice(1)}.${file === undefined ? nearest : ` Did you mean --config ${file}?`}`,
    command === undefined ? {} : { hint: `See \`npx mrlm ${command} --help\`.` },
  );
}

import { CommanderError } from "@commander-js/extra-typings";
import { fileFault, MrlmError } from "@mrlm/spec";
import { type Console, createConsole, type OutputStreams } from "./console/console.ts";
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
  let endTraces: (() => Promise<void>) | undefined;
  try {
    // No command is slower by a tracer that it does not use.
    if (process.env["MRLM_TRACES"] !== undefined)
      endTraces = await (await import("./services/traces.ts")).startTraces();
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
  } finally {
    await endTraces?.().catch((error: Error) => console.note(`note: the last spans are lost: ${error.message}`));
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

/** Prints code, message, hint and causes of an error; an internal error is printed with its stack. */
export function reportError(console: Console, error: unknown): void {
  if (!MrlmError.isInstance(error)) {
    console.note(`error INTERNAL: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    console.emit({ event: "error", code: "INTERNAL", message: error instanceof Error ? error.message : String(error) });
    return;
  }
  console.note(`error ${error.code}: ${error.message}`);
  if (error.hint !== "") console.note(`  ${error.hint}`);
  for (const cause of causesOf(error)) console.note(`  caused by: ${cause}`);
  console.emit({ event: "error", code: error.code, message: error.message, hint: error.hint });
}

/** Returns the causes that add information to the message. */
function causesOf(error: MrlmError): string[] {
  const causes: string[] = [];
  let cause = error.cause;
  while (cause instanceof Error && causes.length < 4) {
    // The message contains the details of a gRPC status already.
    const isStatus = "details" in cause && "metadata" in cause;
    if (
      !isStatus &&
      !error.message.includes(fileFault(cause)) &&
      !error.message.includes(cause.message) &&
      !causes.includes(cause.message)
    )
      causes.push(cause.message);
    cause = cause.cause;
  }
  return causes;
}

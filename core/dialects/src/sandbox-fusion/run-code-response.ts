import type { SandboxResult } from "@mrlm/spec";

/** End of a command of a program. */
export interface CommandResult {
  readonly status: "Finished" | "Error" | "TimeLimitExceeded";
  /** Seconds. */
  readonly execution_time: number;
  /** `null` for a program that a time limit ended. */
  readonly return_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Body of a response to `POST /run_code`. */
export interface RunCodeResponse {
  readonly status: "Success" | "Failed" | "SandboxError";
  readonly message: string;
  /** `null`: no language here is compiled. */
  readonly compile_result: null;
  readonly run_result: CommandResult | null;
  readonly executor_pod_name: null;
  /** Contents in base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Exit code of a process that SIGKILL ended, as shells report it. */
const KILLED = 137;

/** Returns the response to a program that ran. @param fetched paths of the files that the client asked for */
export function responseOf(result: SandboxResult, fetched: readonly string[]): RunCodeResponse {
  const { files = {} } = result;
  const missing = fetched.filter((path) => !Object.hasOwn(files, path));
  const command = commandResult(result);
  return {
    status: command.status === "Finished" && command.return_code === 0 ? "Success" : "Failed",
    message: missing.length === 0 ? "" : `No file of the working directory below 4 MiB: ${missing.join(", ")}.`,
    compile_result: null,
    run_result: command,
    executor_pod_name: null,
    files,
  };
}

/** Returns the response to a request that this server could not carry out. */
export function sandboxError(message: string): RunCodeResponse {
  return {
    status: "SandboxError",
    message,
    compile_result: null,
    run_result: null,
    executor_pod_name: null,
    files: {},
  };
}

function commandResult(result: SandboxResult): CommandResult {
  const { verdict, error, exitCode, stdout, stdoutTruncated, stderrTruncated, wallMs } = result;
  const command = (
    status: CommandResult["status"],
    code: number | null,
    ...notes: readonly string[]
  ): CommandResult => ({
    status,
    execution_time: wallMs / 1_000,
    return_code: code,
    stdout,
    stderr: [result.stderr.replace(/\n$/, ""), ...notes].filter((text) => text !== "").join("\n"),
  });
  if (verdict === "timeout" || verdict === "cpu-limit")
    return command("TimeLimitExceeded", null, "The program was ended at its time limit.");
  if (verdict === "memory-limit") return command("Finished", KILLED, "The program was ended at its memory limit.");
  if (verdict === "killed") return command("Finished", KILLED, "The program broke its interpreter.");
  // A part of an output must not be graded as the whole.
  if (stdoutTruncated || stderrTruncated) return command("Error", 1, "The program wrote more than the output limit.");
  if (verdict === "ok") return command("Finished", exitCode ?? 0);
  // A program that exits writes its own reason.
  return exitCode === undefined ? command("Finished", 1, error?.trace ?? "") : command("Finished", exitCode);
}

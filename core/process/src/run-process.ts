import { spawn } from "node:child_process";

/** Exit code and output of a finished process. */
export interface ProcessResult {
  /** `null` if a signal ended it or it could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Reason why it could not be started. */
  readonly error?: Error;
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Time limit in milliseconds, after which it is killed. */
  readonly timeoutMs?: number;
  /** Called with each line of either stream. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command until it exits. Never rejects: the result of a command that cannot be started has an `error`. */
export type RunProcess = (command: string, args: readonly string[], options?: RunOptions) => Promise<ProcessResult>;

/**
 * Runs a command as a child process. The child's stdin is a pipe that closes when this process exits for any reason, so that a child that
 * watches it never outlives this process.
 */
export const runProcess: RunProcess = (command, args, options = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      env: options.env ?? process.env,
      cwd: options.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    // The option `timeout` of spawn keeps its timer, and so this process, where the child could not be started.
    const deadline =
      options.timeoutMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), options.timeoutMs);
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      let rest = "";
      child[name].setEncoding("utf8");
      child[name].on("data", (text: string) => {
        output[name] += text;
        const lines = (rest + text).split(/\r?\n/);
        rest = lines.pop() ?? "";
        for (const line of lines) options.onLine?.(line);
      });
      child[name].on("end", () => rest !== "" && options.onLine?.(rest));
    }
    // A child that exits without reading its stdin breaks the pipe. This is no error.
    child.stdin.on("error", () => {});
    let failure: Error | undefined;
    child.on("error", (error) => {
      failure = error;
      if (child.pid !== undefined) return;
      clearTimeout(deadline);
      resolve({ code: null, signal: null, ...output, error });
    });
    child.on("close", (code, signal) => {
      clearTimeout(deadline);
      resolve({ code, signal, ...output, ...(failure && { error: failure }) });
    });
  });

import { spawn } from "node:child_process";

/** How a finished process ended and what it said. */
export interface ProcessResult {
  /** `null` when a signal ended it or it could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it could not be started. */
  readonly error?: Error;
}

/** How to run it. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Milliseconds until it is killed. */
  readonly timeoutMs?: number;
  /** Called with each line of either stream as it comes. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command to its end. Never rejects: a command that cannot be started is a result with an `error`. */
export type RunProcess = (command: string, args: readonly string[], options?: RunOptions) => Promise<ProcessResult>;

/**
 * The real runner. The child's stdin is a pipe that closes when this process goes, however it goes, so that a child which
 * watches it never outlives us.
 */
export const runProcess: RunProcess = (command, args, options = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      env: options.env ?? process.env,
      cwd: options.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    // Not spawn's own `timeout`: its timer stays, and keeps this process alive, where the child could not be started.
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
    // A child that ends without reading its stdin breaks the pipe, which is no fault.
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

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { MrlmError } from "@mrlm/spec";
import type { EngineLog } from "./engine-log.ts";
import { type EngineMessage, type LauncherFailure, parseMessage } from "./launcher-message.ts";

/** Exit of the process. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Error of an unexpected exit. */
  readonly cause?: MrlmError;
}

/** Exit of a process: the failure that its launcher reported, or the exit code or signal. */
export type Fate = LauncherFailure | { readonly how: string };

/** Process of the engine, or of the launcher of its ranks. */
export interface EngineChild {
  readonly exited: Promise<ChildExit>;
  /** The exit, after it has happened. For messages about a failed start. */
  readonly fate: Promise<Fate>;
  /** Sends SIGTERM and, after the grace period, SIGKILL. Settles after the exit. */
  stop(): Promise<void>;
}

/** Follows a process and its process group until they exit. Writes standard error to the log and passes messages to `onMessage`. */
export function followChild(
  child: ChildProcessWithoutNullStreams,
  log: EngineLog,
  graceMs: number,
  onMessage: (message: EngineMessage) => void,
): EngineChild {
  let asked = false;
  let failed: LauncherFailure | undefined;
  const { promise: fate, resolve: settleFate } = Promise.withResolvers<Fate>();
  const exited = new Promise<ChildExit>((resolve) => {
    const settle = (code: number | null, signal: string | null, error?: Error): void => {
      const ending = failed ?? { how: error?.message ?? describeExit(code, signal) };
      settleFate(ending);
      const cause = asked ? undefined : exitError(ending, log);
      if (cause !== undefined) log.record(cause.message.split("\n", 1)[0] as string);
      log.close();
      resolve({ code, signal, ...(cause && { cause }) });
    };
    // Processes that the engine started must not outlive it. They would also keep its output open.
    child.once("exit", () => signalGroup(child, "SIGKILL"));
    child.once("error", (error) => child.pid === undefined && settle(null, null, error));
    child.once("close", (code, signal) => settle(code, signal));
  });

  // The pipe is open until this process exits. It breaks when the engine exits first.
  child.stdin.on("error", () => {});
  createInterface({ input: child.stderr }).on("line", (line) => log.write(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseMessage(line);
    if (message === undefined) log.write(line);
    else if ("failed" in message) failed = message.failed;
    else onMessage(message);
  });

  const stop = async (): Promise<void> => {
    asked = true;
    child.stdin.end();
    sendSignal(child, "SIGTERM");
    const timer = setTimeout(() => sendSignal(child, "SIGKILL"), graceMs);
    await exited;
    clearTimeout(timer);
  };
  return { exited, fate, stop };
}

function exitError(fate: Fate, log: EngineLog): MrlmError {
  if ("code" in fate) return new MrlmError(fate.code, fate.message);
  const what =
    "because" in fate
      ? `The engine ended because ${fate.because}`
      : `The engine ended without being asked to: ${fate.how}`;
  return new MrlmError("ENGINE_EXITED", `${what}.${log.tail()}`);
}

function describeExit(code: number | null, signal: string | null): string {
  if (signal === "SIGKILL") return "killed by SIGKILL (by hand, or by the system because memory ran out)";
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

function sendSignal(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === "win32") child.kill(signal);
  else signalGroup(child, signal);
}

/** Sends a signal to the process group of the engine. Windows has no process groups. */
function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined || process.platform === "win32") return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no process left.
  }
}

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { MrlmError } from "@mrlm/spec";
import type { EngineLog } from "./engine-log.ts";
import { type EngineMessage, type LauncherFailure, parseMessage } from "./launcher-message.ts";

/** The end of the process. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Of an end that nobody asked for. */
  readonly cause?: MrlmError;
}

/** How a process ended: in its launcher's words, or by what the system says of it. */
export type Fate = LauncherFailure | { readonly how: string };

/** A process of the engine's, or the launcher of its ranks. */
export interface EngineChild {
  readonly exited: Promise<ChildExit>;
  /** How it ended, once it has; for a message about its start. */
  readonly fate: Promise<Fate>;
  /** SIGTERM, and after the grace period SIGKILL; settles when it has ended. */
  stop(): Promise<void>;
}

/** Follows a process to its end, and what it has started with it: standard error goes to the log, its messages to `hear`. */
export function followChild(
  child: ChildProcessWithoutNullStreams,
  log: EngineLog,
  graceMs: number,
  hear: (message: EngineMessage) => void,
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
    // What the engine started must not outlive it, and would keep its output open.
    child.once("exit", () => signalGroup(child, "SIGKILL"));
    child.once("error", (error) => child.pid === undefined && settle(null, null, error));
    child.once("close", (code, signal) => settle(code, signal));
  });

  // The pipe stays open for as long as we live, and breaks when the engine ends first.
  child.stdin.on("error", () => {});
  createInterface({ input: child.stderr }).on("line", (line) => log.write(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseMessage(line);
    if (message === undefined) log.write(line);
    else if ("failed" in message) failed = message.failed;
    else hear(message);
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

/** To the engine's process group, of which it is the leader; there are none on Windows. */
function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined || process.platform === "win32") return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

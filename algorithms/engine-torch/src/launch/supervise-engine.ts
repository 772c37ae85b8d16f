import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { type EngineProcess, MrlmError } from "@mrlm/spec";
import type { EngineLog } from "./engine-log.ts";
import { parseReadyLine, type ReadyLine } from "./ready-line.ts";

/** Limits of a supervised engine. */
export interface Supervision {
  readonly startTimeoutMs: number;
  readonly graceMs: number;
  /** Ends the engine when aborted. */
  readonly signal?: AbortSignal;
}

type Exit = Awaited<EngineProcess["exited"]>;

/** Follows an engine from its first line to its end. */
export async function superviseEngine(child: ChildProcessWithoutNullStreams, log: EngineLog, supervision: Supervision): Promise<EngineProcess> {
  let asked = false;
  let notSpawned: Error | undefined;
  const exited = new Promise<Exit>((resolve) => {
    const settle = (code: number | null, signal: string | null, error?: Error): void => {
      notSpawned = error;
      const cause = asked ? undefined : exitError(error?.message ?? describeExit(code, signal), log);
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
  const ready = new Promise<ReadyLine>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const parsed = parseReadyLine(line);
      if (parsed === undefined) log.write(line);
      else resolve(parsed);
    });
  });

  const stop = async (): Promise<void> => {
    asked = true;
    child.stdin.end();
    sendSignal(child, "SIGTERM");
    const timer = setTimeout(() => sendSignal(child, "SIGKILL"), supervision.graceMs);
    await exited;
    clearTimeout(timer);
  };
  const onAbort = (): void => void stop();
  supervision.signal?.addEventListener("abort", onAbort, { once: true });
  void exited.then(() => supervision.signal?.removeEventListener("abort", onAbort));

  const ended = exited.then(({ code, signal }) => notSpawned?.message ?? describeExit(code, signal));
  const outcome = await firstOf(ready, ended, supervision);
  if ("listening" in outcome) {
    const { listening: address, pid, instance_id: instanceId, device } = outcome;
    return { address, pid, instanceId, device, exited, stop };
  }
  await stop();
  throw outcome.error(log);
}

interface Failure {
  /** Made after the engine has ended, so that its last words are in the log. */
  error(log: EngineLog): MrlmError;
}

async function firstOf(ready: Promise<ReadyLine>, ended: Promise<string>, { startTimeoutMs, signal }: Supervision): Promise<ReadyLine | Failure> {
  const finished = new AbortController();
  const failure = (message: string): Failure => ({ error: (log) => new MrlmError("ENGINE_START_FAILED", `${message}${log.tail()}`) });
  const tooLate = new Promise<Failure>((resolve) => {
    const timer = setTimeout(() => resolve(failure(`The engine did not come up within ${startTimeoutMs / 1000} s.`)), startTimeoutMs);
    finished.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const tooEarly = ended.then((how) => failure(`The engine ended before it accepted calls: ${how}.`));
  const cancelled = new Promise<Failure>((resolve) => {
    const cancel = (): void => resolve({ error: () => new MrlmError("CANCELLED", "The start of the engine was cancelled.", { cause: signal?.reason }) });
    signal?.addEventListener("abort", cancel, { once: true, signal: finished.signal });
  });
  try {
    return await Promise.race([ready, cancelled, tooEarly, tooLate]);
  } finally {
    finished.abort();
  }
}

function exitError(how: string, log: EngineLog): MrlmError {
  return new MrlmError("ENGINE_EXITED", `The engine ended without being asked to: ${how}.${log.tail()}`);
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

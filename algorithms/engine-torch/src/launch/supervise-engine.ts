import type { ChildOptions } from "@mrlm/process";
import type { EngineProcess } from "@mrlm/spec/host";
import { MrlmError } from "@mrlm/spec";
import { type Fate, startEngineChild } from "./engine-child.ts";
import type { EngineLog } from "./engine-log.ts";
import type { ReadyLine } from "./ready-line.ts";

/** Limits of a supervised engine. */
export interface Supervision {
  readonly startTimeoutMs: number;
  readonly graceMs: number;
  /** Called with the machines that the launcher waits for. */
  readonly notice?: (line: string) => void;
  /** Stops the engine when aborted. */
  readonly signal?: AbortSignal;
}

/** Starts an engine, and follows it from its first line to its exit. */
export async function superviseEngine(
  options: ChildOptions,
  log: EngineLog,
  supervision: Supervision,
): Promise<Omit<EngineProcess, "token">> {
  const { promise: ready, resolve: isReady } = Promise.withResolvers<ReadyLine>();
  const { exited, fate, stop } = startEngineChild(options, log, supervision.graceMs, (message) => {
    if ("ready" in message) isReady(message.ready);
    else if ("notice" in message) supervision.notice?.(message.notice);
  });
  const onAbort = (): void => void stop();
  supervision.signal?.addEventListener("abort", onAbort, { once: true });
  void exited.then(() => supervision.signal?.removeEventListener("abort", onAbort));

  const outcome = await firstOf(ready, fate, supervision);
  if ("listening" in outcome) {
    const { listening: address, pid, instance_id: instanceId, device } = outcome;
    return { address, pid, instanceId, device, exited, stop };
  }
  await stop();
  throw outcome.error(log);
}

interface Failure {
  /** Creates the error. Called after the exit, when the log is complete. */
  error(log: EngineLog): MrlmError;
}

async function firstOf(
  ready: Promise<ReadyLine>,
  fate: Promise<Fate>,
  { startTimeoutMs, signal }: Supervision,
): Promise<ReadyLine | Failure> {
  const finished = new AbortController();
  const failure = (message: string): Failure => ({
    error: (log) => new MrlmError("ENGINE_START_FAILED", `${message}${log.tail()}`),
  });
  const tooLate = new Promise<Failure>((resolve) => {
    const timer = setTimeout(
      () => resolve(failure(`The engine did not come up within ${startTimeoutMs / 1000} s.`)),
      startTimeoutMs,
    );
    finished.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const tooEarly = fate.then((ending): Failure => {
    if ("code" in ending) return { error: () => new MrlmError(ending.code, ending.message) };
    return failure(
      `The engine ended before it accepted calls${"because" in ending ? `, because ${ending.because}` : `: ${ending.how}`}.`,
    );
  });
  const cancelled = new Promise<Failure>((resolve) => {
    const cancel = (): void =>
      resolve({
        error: () => new MrlmError("CANCELLED", "The start of the engine was cancelled.", { cause: signal?.reason }),
      });
    signal?.addEventListener("abort", cancel, { once: true, signal: finished.signal });
  });
  try {
    return await Promise.race([ready, cancelled, tooEarly, tooLate]);
  } finally {
    finished.abort();
  }
}

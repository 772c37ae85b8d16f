/**
 * Worker process of the calculator: one thread evaluates, this thread enforces its limits.
 *
 * The limits of a thread do not hold alone. An allocation that exceeds the heap at once, such as that of `zeros(1e8)`, aborts the process of the thread,
 * which therefore contains nothing else. This thread also ends the process with its parent, whatever the other one does.
 */
import { Worker } from "node:worker_threads";
import { MAX_WALL_FACTOR, type Outcome, type WorkerLimits, type WorkerMessage } from "./messages.ts";

const limits = JSON.parse(process.argv[2] ?? "") as WorkerLimits;
const evaluator = new URL(import.meta.url.endsWith(".ts") ? "./evaluator.ts" : "./evaluator.js", import.meta.url);

/** Time for a thread to end. A function of the engine that cannot be interrupted takes longer. */
const TERMINATION_MS = 250;

let thread = startThread();
let deadline: NodeJS.Timeout | undefined;

process.on("message", (expression: string) => {
  const start = { cpuMs: cpuMs(), wallMs: performance.now() };
  const check = (): void => {
    const restMs = limits.timeoutMs - (cpuMs() - start.cpuMs);
    const isOver = restMs < 1 || performance.now() - start.wallMs >= limits.timeoutMs * MAX_WALL_FACTOR;
    if (isOver) replaceThread({ kind: "timeout" });
    else deadline = setTimeout(check, restMs);
  };
  deadline = setTimeout(check, limits.timeoutMs);
  thread.postMessage(expression);
});
process.on("disconnect", endProcess);

/** Returns the processor time of this process in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function startThread(): Worker {
  // Without an execArgv of its own, a thread has the permissions of the process.
  const started = new Worker(evaluator, {
    workerData: limits,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  let isReady = false;
  started.on("message", (message: WorkerMessage) => {
    if (message.kind === "outcome" && !message.isReady) return replaceThread(message.outcome);
    isReady = true;
    send(message);
  });
  started.on("error", (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    const failed: Outcome = { kind: "failed", text: error.message };
    if (!isReady) send({ kind: "outcome", outcome: failed, isReady: false });
    else replaceThread(isMemory ? { kind: "memory" } : failed);
  });
  return started;
}

/** Answers the expression, and ends the thread that evaluates it. */
function replaceThread(outcome: Outcome): void {
  send({ kind: "outcome", outcome, isReady: false });
  const old = thread.removeAllListeners().on("error", () => undefined);
  const overdue = setTimeout(endProcess, TERMINATION_MS);
  void old.terminate().then(() => {
    clearTimeout(overdue);
    thread = startThread();
  });
}

function send(message: WorkerMessage): void {
  clearTimeout(deadline);
  if (process.connected) process.send?.(message, () => undefined);
}

/** Ends the process without waiting for its thread, as `process.exit` does. */
function endProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

// Thread that checks whether the event loop advances. It imports nothing that depends on the loop.
import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type EnvironmentPhase, WORD } from "./host/phase-beacon.ts";
import type { WatchdogOptions } from "./host/event-loop-watchdog.ts";

const CHECK_MS = 500;
/** The time that a parent waits for the process to end. */
const ORPHAN_MS = 10_000;

const { words, graceMs, ...options } = workerData as WatchdogOptions & {
  readonly words: Int32Array;
  readonly graceMs: number;
};
const places: EnvironmentPhase[] = [];
let beat = -1;
let stillMs = 0;
let isReported = false;

parentPort?.on("message", (place: EnvironmentPhase) => places.push(place));
// Checks are counted and no clock is read: a suspended process suspends this thread as well.
setInterval(check, CHECK_MS);

function check(): void {
  const now = Atomics.load(words, WORD.beat);
  if (now !== beat || Atomics.load(words, WORD.isDebugged) === 1) {
    beat = now;
    stillMs = 0;
    isReported = false;
    return;
  }
  stillMs += CHECK_MS;
  if (options.parent !== undefined && process.ppid !== options.parent && stillMs >= ORPHAN_MS)
    process.kill(process.pid, "SIGKILL");
  const place = places[Atomics.load(words, WORD.last)];
  if (isReported || place === undefined || Atomics.load(words, WORD.running) === 0 || stillMs < place.limitMs + graceMs)
    return;
  isReported = true;
  report(place);
  if (options.ends) process.kill(process.pid, "SIGKILL");
}

function report({ environment, phase, limitMs }: EnvironmentPhase): void {
  const code = "DEADLINE_EXCEEDED";
  const message = `Environment ${environment} has blocked its process for ${Math.round(stillMs / 1000)} s in its ${phase} phase, whose deadline is ${limitMs / 1000} s: it handled nothing else in that time.`;
  const hint =
    "Look there for an endless loop or a call that waits without `await`; long computations belong in a worker, a child process or a sandbox.";
  if (options.stderr === "text") write(2, `error ${code}: ${message}\n  ${hint}\n`);
  if (options.stderr === "json") {
    const line = { level: "error", time: new Date().toISOString(), fields: { code, hint }, msg: message };
    write(2, `${JSON.stringify(line)}\n`);
  }
  if (options.event !== undefined) write(1, `${JSON.stringify({ event: options.event, code, message, hint })}\n`);
}

/** Writes synchronously: `process.stdout` of a thread needs the event loop, which is blocked. */
function write(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // The reader has closed the stream.
  }
}

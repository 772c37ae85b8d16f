// The thread that looks whether the event loop still beats. It imports nothing that the loop might hold up.
import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type WorkPlace, WORD } from "./host/at-work.ts";
import type { BlockWatchOptions } from "./host/block-watch.ts";

const LOOK_MS = 500;
/** As long as its parent would wait for it to end. */
const ORPHAN_MS = 10_000;

const { words, graceMs, ...options } = workerData as BlockWatchOptions & {
  readonly words: Int32Array;
  readonly graceMs: number;
};
const places: WorkPlace[] = [];
let beat = -1;
let stillMs = 0;
let isTold = false;

parentPort?.on("message", (place: WorkPlace) => places.push(place));
// Looks are counted, and no clock is read: a process that was suspended has stood still with its thread.
setInterval(look, LOOK_MS);

function look(): void {
  const now = Atomics.load(words, WORD.beat);
  if (now !== beat || Atomics.load(words, WORD.isDebugged) === 1) {
    beat = now;
    stillMs = 0;
    isTold = false;
    return;
  }
  stillMs += LOOK_MS;
  if (options.parent !== undefined && process.ppid !== options.parent && stillMs >= ORPHAN_MS)
    process.kill(process.pid, "SIGKILL");
  const place = places[Atomics.load(words, WORD.last)];
  if (isTold || place === undefined || Atomics.load(words, WORD.running) === 0 || stillMs < place.limitMs + graceMs)
    return;
  isTold = true;
  tell(place);
  if (options.ends) process.kill(process.pid, "SIGKILL");
}

function tell({ environment, phase, limitMs }: WorkPlace): void {
  const code = "DEADLINE_EXCEEDED";
  const message = `Environment ${environment} has blocked its process for ${Math.round(stillMs / 1000)} s in its ${phase} phase, whose deadline is ${limitMs / 1000} s: nothing else was heard in that time.`;
  const hint =
    "Look there for an endless loop or a call that waits without `await`; long computations belong in a worker, a child process or a sandbox.";
  if (options.stderr) say(2, `error ${code}: ${message}\n  ${hint}\n`);
  if (options.event !== undefined) say(1, `${JSON.stringify({ event: options.event, code, message, hint })}\n`);
}

/** `process.stdout` of a thread goes by way of the loop that stands still. */
function say(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // Nobody listens any more.
  }
}

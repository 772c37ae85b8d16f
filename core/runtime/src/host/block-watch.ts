import { url as debuggerUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { atWork, followPlaces, WORD } from "./at-work.ts";

/** What becomes of a process that an environment blocks. */
export interface BlockWatchOptions {
  /** Says so in lines for people. */
  readonly stderr: boolean;
  /** Says so as a JSON object with this `event`. */
  readonly event?: string;
  /** Ends the process: it hears neither signals nor those who wait for it. */
  readonly ends: boolean;
  /** Ends a blocked process sooner when this is no longer its parent. */
  readonly parent?: number;
  /** How long past a phase's deadline the event loop may stand still. */
  readonly graceMs?: number;
}

const BEAT_MS = 250;
const GRACE_MS = 5_000;

/**
 * Watches for an environment that never yields, as one with an endless loop does: while its code runs, no deadline, no signal and no other session of this
 * process is heard, so that a thread of its own must look. It does nothing while a debugger is attached. Call the answer to end the watch.
 */
export function watchForBlocks({ graceMs = GRACE_MS, ...options }: BlockWatchOptions): () => Promise<void> {
  const beat = setInterval(() => {
    Atomics.add(atWork, WORD.beat, 1);
    Atomics.store(atWork, WORD.isDebugged, debuggerUrl() === undefined ? 0 : 1);
  }, BEAT_MS).unref();
  const file = import.meta.url.endsWith(".ts") ? "../block-watch-worker.ts" : "./block-watch-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { words: atWork, graceMs, ...options },
    env: {},
    execArgv: ["--no-warnings"],
    name: "mrlm-block-watch",
  });
  worker.unref();
  followPlaces((place) => worker.postMessage(place));
  return async () => {
    clearInterval(beat);
    followPlaces(() => undefined);
    await worker.terminate();
  };
}

import { url as debuggerUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { moduleFile } from "@mrlm/process";
import { phaseBeacon, onPhase, WORD } from "./phase-beacon.ts";

/** Reaction to an environment that blocks the process. */
export interface WatchdogOptions {
  /** Prints the error to stderr: for people, or as a line of a log in JSON. */
  readonly stderr?: "text" | "json";
  /** Prints the error to stdout as a JSON object with this `event`. */
  readonly event?: string;
  /** Kills the process, which can handle neither signals nor requests. */
  readonly ends: boolean;
  /** Kills a blocked process sooner when its parent is no longer this one. */
  readonly parent?: number;
  /** Time that the event loop may be blocked after a phase's deadline. */
  readonly graceMs?: number;
}

const BEAT_MS = 250;
const GRACE_MS = 5_000;

/**
 * Detects an environment that blocks the event loop, for example by an endless loop. No deadline, signal or other session of the process is handled meanwhile,
 * so the check runs in a worker thread. It does nothing while a debugger is attached.
 * @returns a function that stops the watchdog
 */
export function watchEventLoop({ graceMs = GRACE_MS, ...options }: WatchdogOptions): () => Promise<void> {
  const beat = setInterval(() => {
    Atomics.add(phaseBeacon, WORD.beat, 1);
    Atomics.store(phaseBeacon, WORD.isDebugged, debuggerUrl() === undefined ? 0 : 1);
  }, BEAT_MS).unref();
  const { url } = moduleFile(import.meta.url, "../event-loop-watchdog-worker");
  const worker = new Worker(url, {
    workerData: { words: phaseBeacon, graceMs, ...options },
    env: {},
    execArgv: ["--no-warnings"],
    name: "mrlm-event-loop-watchdog",
  });
  worker.unref();
  onPhase((place) => worker.postMessage(place));
  return async () => {
    clearInterval(beat);
    onPhase(() => undefined);
    await worker.terminate();
  };
}

import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { MrlmError } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";
import type { Killed } from "./inspector.ts";
import { CAUSE, fieldAt, NEXT_LOOK, pauseMs, sharedNow, SLOTS, THREAD, tickOf, WAKE, watchTable } from "./table.ts";

/** Limits of a child, in absolute numbers of its process. */
export interface Watch {
  readonly pid: number;
  readonly isTree: boolean;
  /** Present resident memory, and its limit. */
  readonly rssBytes: number;
  readonly memoryBytes: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Largest number of processes of a tree. With it the processor time of ended ones counts. Default: any. */
  readonly processes?: number;
}

/** Limit for which the thread killed a process. */
export type Kill = SandboxVerdict | "process-limit";

const MAX_RUN = 2 ** 31 - 1;

const VERDICTS: readonly (Kill | undefined)[] = [undefined, "timeout", "cpu-limit", "memory-limit", "process-limit"];

const table = watchTable();
const taken = new Map<number, WatchSlot>();
let lastThread = 0;
/** Settles when the thread that runs looks at the table. */
let looking: Promise<void> = Promise.resolve();
let lastRun = 0;

/** Slot of one child in the watchdog's table. The thread runs while a slot is in use. */
export class WatchSlot {
  readonly #slot: number;
  readonly #onKill: () => void;
  #run = 0;
  #isReleased = false;

  /** `onKill` is called when the thread has sent the signal. The process may exit later. */
  constructor(onKill: () => void) {
    this.#onKill = onKill;
    const slot = Array.from({ length: SLOTS }, (_, index) => index).find((index) => !taken.has(index));
    if (slot === undefined)
      throw new MrlmError("RESOURCE_EXHAUSTED", `This process already supervises ${SLOTS} sandbox children.`);
    this.#slot = slot;
    if (taken.size === 0) startThread();
    taken.set(slot, this);
  }

  /** Starts the watch: the thread kills the process at a limit. */
  arm(watch: Watch): void {
    const { values, armed } = table;
    values[fieldAt(this.#slot, "pid")] = watch.pid;
    values[fieldAt(this.#slot, "isTree")] = watch.isTree ? 1 : 0;
    values[fieldAt(this.#slot, "memoryLimit")] = watch.memoryBytes;
    values[fieldAt(this.#slot, "cpuLimit")] = watch.cpuMs;
    values[fieldAt(this.#slot, "processLimit")] = watch.processes ?? 0;
    values[fieldAt(this.#slot, "deadline")] = sharedNow() + watch.wallMs;
    values[fieldAt(this.#slot, "cause")] = CAUSE.none;
    values[fieldAt(this.#slot, "peak")] = 0;
    values[fieldAt(this.#slot, "cpu")] = 0;
    lastRun = (lastRun % MAX_RUN) + 1;
    this.#run = lastRun;
    Atomics.store(armed, this.#slot, this.#run);
    wakeWithin(pauseMs(watch.wallMs, watch.memoryBytes - watch.rssBytes));
  }

  /** Ends the watch. Returns the verdict if the process was killed. */
  disarm(): Kill | undefined {
    if (this.#isReleased) return undefined;
    const isKilled = Atomics.exchange(table.armed, this.#slot, 0) === 0;
    return isKilled ? VERDICTS[table.values[fieldAt(this.#slot, "cause")] as number] : undefined;
  }

  /** Receives a kill from the thread, possibly after the end of that run. */
  static receive({ slot, run }: Killed): void {
    const watched = taken.get(slot);
    if (watched !== undefined && watched.#run === run) watched.#onKill();
  }

  /** Settles when the thread runs, which takes longer than the start of many programs. */
  static ready(): Promise<void> {
    return looking;
  }

  /** Highest measured resident memory since `arm`. */
  get peakBytes(): number {
    return table.values[fieldAt(this.#slot, "peak")] as number;
  }

  /** Processor time of the process at the last check. */
  get cpuMs(): number {
    return table.values[fieldAt(this.#slot, "cpu")] as number;
  }

  release(): void {
    this.disarm();
    this.#isReleased = true;
    taken.delete(this.#slot);
    if (taken.size === 0) setThread(0);
  }
}

/** Returns why memory and processor time of other processes cannot be measured; `undefined` if they can. The deadline holds always. */
export function watchdogMissing(): string | undefined {
  return existsSync("/proc/self/stat") ? undefined : "there is no /proc to read memory and processor time from";
}

function startThread(): void {
  lastThread += 1;
  setThread(lastThread);
  const file = import.meta.url.endsWith(".ts") ? "../watchdog-worker.ts" : "./watchdog-worker.js";
  const options = {
    workerData: { buffer: table.buffer, thread: lastThread },
    env: {},
    execArgv: ["--no-warnings"],
    name: "mrlm-watchdog",
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  looking = promise;
  new Worker(new URL(file, import.meta.url), options)
    .on("message", (message: Killed | "ready") => (message === "ready" ? resolve() : WatchSlot.receive(message)))
    .unref();
}

/** Sets the number of the thread that runs; any other thread ends. */
function setThread(thread: number): void {
  Atomics.store(table.armed, THREAD, thread);
  wake();
}

function wake(): void {
  Atomics.add(table.armed, WAKE, 1);
  Atomics.notify(table.armed, WAKE);
}

/** Wakes the thread unless its next check is early enough. A thread that is about to wait notices the changed word. */
function wakeWithin(ms: number): void {
  Atomics.add(table.armed, WAKE, 1);
  const next = Atomics.load(table.armed, NEXT_LOOK);
  const isSoon = next !== 0 && ((next - tickOf(sharedNow() + ms)) | 0) <= 0;
  if (!isSoon) Atomics.notify(table.armed, WAKE);
}

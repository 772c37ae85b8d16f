/** Fields of a slot of the table that pools and the watchdog thread share. */
export const FIELD = {
  pid: 0,
  /** 1 if the processes that it starts count too. */
  isTree: 1,
  /** Resident memory in bytes. */
  memoryLimit: 2,
  /** Processor time in milliseconds since the start of the process. */
  cpuLimit: 3,
  /** Time of `sharedNow`. */
  deadline: 4,
  /** Cause of the kill, a CAUSE. */
  cause: 5,
  /** Peak resident memory since it was armed. */
  peak: 6,
  /** Processor time at the last check. */
  cpu: 7,
  /** Largest number of processes of a tree, in which the processor time of ended ones counts too; 0: any. */
  processLimit: 8,
} as const;

export const CAUSE = { none: 0, deadline: 1, cpu: 2, memory: 3, processes: 4 } as const;

const FIELDS = 9;
/** Maximum number of children that one process supervises. */
export const SLOTS = 1024;

/** Words after the slots of `armed`: the number of the thread that runs, a counter that wakes it, and the `tickOf` its next check (0: none). */
export const THREAD = SLOTS + 1;
export const WAKE = SLOTS + 2;
export const NEXT_LOOK = SLOTS + 3;
const WORDS = SLOTS + 4;

/** Maximum growth of memory: a page fault costs the kernel about a microsecond. */
const BYTES_PER_MS = 4e6;
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;

/** Two views of one shared buffer. A slot's word in `armed` is the number of the watched run, or 0. */
export interface WatchTable {
  readonly armed: Int32Array<SharedArrayBuffer>;
  readonly values: Float64Array<SharedArrayBuffer>;
}

export function watchTable(
  buffer: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * FIELDS * 8 + WORDS * 4),
): WatchTable & { readonly buffer: SharedArrayBuffer } {
  return {
    buffer,
    values: new Float64Array(buffer, 0, SLOTS * FIELDS),
    armed: new Int32Array(buffer, SLOTS * FIELDS * 8, WORDS),
  };
}

export function fieldAt(slot: number, field: keyof typeof FIELD): number {
  return slot * FIELDS + FIELD[field];
}

/** Returns milliseconds on a clock that all threads of a process share. */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** Returns the time until the next check of a child with this time and memory left. */
export function pauseMs(leftMs: number, leftBytes: number): number {
  return Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, leftMs, leftBytes / BYTES_PER_MS));
}

/** Converts a time of `sharedNow` to a word that is never 0; differences of two words are correct for 12 days. */
export function tickOf(timeMs: number): number {
  return timeMs | 0 | 1;
}

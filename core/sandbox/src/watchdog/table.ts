/** Fields of a slot of the table that pools and the watchdog thread share. */
export const FIELD = {
  pid: 0,
  /** 1: the processes that it makes count too. */
  isTree: 1,
  /** Bytes of resident memory, absolute. */
  memoryLimit: 2,
  /** Milliseconds of processor time since the process began. */
  cpuLimit: 3,
  /** On the clock of `sharedNow`. */
  deadline: 4,
  /** Why it was killed: a CAUSE. */
  cause: 5,
  /** Highest resident memory since it was armed. */
  peak: 6,
  /** Processor time when last seen. */
  cpu: 7,
} as const;

export const CAUSE = { none: 0, wall: 1, cpu: 2, memory: 3 } as const;

const FIELDS = 8;
/** Children that one process can supervise. */
export const SLOTS = 1024;

/** Words after the slots of `armed`: one names the thread that is to run, one changes to wake it, one is the `tickOf` its next look; 0: it plans none. */
export const THREAD = SLOTS + 1;
export const WAKE = SLOTS + 2;
export const NEXT_LOOK = SLOTS + 3;
const WORDS = SLOTS + 4;

/** Memory can grow no faster than this: a page fault costs the kernel about a microsecond. */
const BYTES_PER_MS = 4e6;
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;

/** Two views of one shared buffer. A slot's word in `armed` is a number of the run while one is watched, and 0 otherwise. */
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

/** Milliseconds on a clock that all threads of a process share. */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** How long a child may go unwatched that has so much time and memory left. */
export function pauseMs(leftMs: number, leftBytes: number): number {
  return Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, leftMs, leftBytes / BYTES_PER_MS));
}

/** A time of `sharedNow` as a word that is never 0; differences of two are right for 12 days. */
export function tickOf(timeMs: number): number {
  return timeMs | 0 | 1;
}

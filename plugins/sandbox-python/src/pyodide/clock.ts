/** Data that the main thread and the interrupting thread share. */
export interface Clock {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly limits: Float64Array<SharedArrayBuffer>;
}

/** Fields of `words`. */
export const STATE = 0;
export const CAUSE = 1;
/** 1 while the interrupting thread sleeps. */
export const ASLEEP = 2;

/** Values of STATE. */
export const IDLE = 0;
export const ARMED = 1;
export const FIRING = 2;

/** Fields of `limits`. */
export const LIMIT = {
  /** Time of `now`. */
  deadline: 0,
  /** Processor time of the process, in milliseconds since its start. */
  cpu: 1,
} as const;

export function makeClock(): Clock {
  return { words: new Int32Array(new SharedArrayBuffer(16)), limits: new Float64Array(new SharedArrayBuffer(16)) };
}

/** Returns milliseconds on a clock that all threads of a process share. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

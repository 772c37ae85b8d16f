import type { Phase } from "./deadlines.ts";

/** A phase of an environment, with its deadline. */
export interface EnvironmentPhase {
  readonly environment: string;
  readonly phase: Phase;
  readonly limitMs: number;
}

/** Indices of the shared words: ticks of the event loop, running phases, index of the phase entered last, and whether a debugger is attached. */
export const WORD = { beat: 0, running: 1, last: 2, isDebugged: 3 } as const;

/** Shared state of this process's event loop, read by the watchdog's thread. */
export const phaseBeacon = new Int32Array(
  new SharedArrayBuffer(Object.keys(WORD).length * Int32Array.BYTES_PER_ELEMENT),
);

const indices = new Map<string, number>();
const places: EnvironmentPhase[] = [];
let onPlace: (place: EnvironmentPhase) => void = () => undefined;

/** Returns the index of a phase for {@link enterPhase}. */
export function indexOfPhase(place: EnvironmentPhase): number {
  const key = `${place.phase} ${place.limitMs} ${place.environment}`;
  let index = indices.get(key);
  if (index === undefined) {
    index = places.push(place) - 1;
    indices.set(key, index);
    onPlace(place);
  }
  return index;
}

/** Marks the start of an environment's code. Each call is followed by one of {@link leavePhase}. */
export function enterPhase(index: number): void {
  Atomics.store(phaseBeacon, WORD.last, index);
  Atomics.add(phaseBeacon, WORD.running, 1);
}

/** Marks the end of an environment's code. */
export function leavePhase(): void {
  Atomics.sub(phaseBeacon, WORD.running, 1);
}

/** Calls the listener with each phase that `WORD.last` can index, in order: the known ones now, later ones when they are first indexed. */
export function onPhase(listener: (place: EnvironmentPhase) => void): void {
  onPlace = listener;
  places.forEach(listener);
}

/** Session whose code runs, with its phase. */
export interface SessionAtWork {
  readonly environment?: string;
  /** Name that was given to the host; empty for code of no session. */
  readonly session: string;
  readonly phase: Phase;
}

/** Calls the code of a session, and may note that it does. */
export type SessionTracker = <T>(at: SessionAtWork, work: () => T) => T;

/** Tracker of this process, in a process that other sessions must survive. */
export const sessionTracking: { tracker: SessionTracker | undefined } = { tracker: undefined };

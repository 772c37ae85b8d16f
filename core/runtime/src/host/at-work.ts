import type { Phase } from "./deadlines.ts";

/** A phase of an environment, with its deadline. */
export interface WorkPlace {
  readonly environment: string;
  readonly phase: Phase;
  readonly limitMs: number;
}

/** Words that another thread reads: beats of the event loop, phases under way, which was entered last, and whether a debugger may hold the loop up. */
export const WORD = { beat: 0, running: 1, last: 2, isDebugged: 3 } as const;

/** Of this process's event loop, of which there is one. */
export const atWork = new Int32Array(new SharedArrayBuffer(Object.keys(WORD).length * Int32Array.BYTES_PER_ELEMENT));

const indices = new Map<string, number>();
const places: WorkPlace[] = [];
let onPlace: (place: WorkPlace) => void = () => undefined;

/** An environment's code is about to run. Each call is followed by one of `leavePhase`. */
export function enterPhase(environment: string, phase: Phase, limitMs: number): void {
  const key = `${phase} ${limitMs} ${environment}`;
  let index = indices.get(key);
  if (index === undefined) {
    const place = { environment, phase, limitMs };
    index = places.push(place) - 1;
    indices.set(key, index);
    onPlace(place);
  }
  Atomics.store(atWork, WORD.last, index);
  Atomics.add(atWork, WORD.running, 1);
}

export function leavePhase(): void {
  Atomics.sub(atWork, WORD.running, 1);
}

/** Tells of every place that `WORD.last` may mean, in order: those that are known and those to come. */
export function followPlaces(listener: (place: WorkPlace) => void): void {
  onPlace = listener;
  places.forEach(listener);
}

import type { RandomStream } from "@mrlm/spec";
import { randomStream } from "../random.ts";

/** Endless sequence of the indices 0..size-1, each once per epoch, in another order in each epoch. */
export interface EpochOrder {
  /** Returns the next `count` indices. They may cross the end of an epoch. */
  take(count: number): number[];
  /** Number of indices taken so far: the whole state. */
  position(): number;
  seek(position: number): void;
}

/** Largest size that is shuffled in memory. Larger sizes use {@link feistelPermutation}. */
const SHUFFLED_IN_MEMORY = 100_000;

/** Creates the random order of `size` rows under a seed. */
export function epochOrder(size: number, name: string, seed: number): EpochOrder {
  if (!Number.isSafeInteger(size) || size < 1)
    throw new RangeError(`An order of ${size} rows is none: there must be at least one`);
  let taken = 0;
  let epoch = -1;
  let at: (index: number) => number = (index) => index;
  const enter = (wanted: number): void => {
    if (wanted === epoch) return;
    epoch = wanted;
    at = permutation(size, randomStream(`${name}/epoch/${epoch}`, seed));
  };
  return {
    take(count) {
      return Array.from({ length: count }, () => {
        enter(Math.floor(taken / size));
        return at(taken++ % size);
      });
    },
    position: () => taken,
    seek(position) {
      taken = position;
    },
  };
}

/** Creates the order 0..size-1, repeated. */
export function indexOrder(size: number): EpochOrder {
  let taken = 0;
  return {
    take: (count) => Array.from({ length: count }, () => taken++ % size),
    position: () => taken,
    seek(position) {
      taken = position;
    },
  };
}

function permutation(size: number, random: RandomStream): (index: number) => number {
  if (size <= SHUFFLED_IN_MEMORY) {
    const order = random.shuffle(Array.from({ length: size }, (_, i) => i));
    return (index) => order[index] as number;
  }
  return feistelPermutation(
    size,
    Array.from({ length: 4 }, () => random.integer(0, 0xffffffff)),
  );
}

/**
 * Creates a permutation of 0..size-1 in constant memory and time: a balanced Feistel network over the next even power of two, applied until the result is
 * below `size` (cycle walking: Black & Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). A shuffled array of 10^8 indices would take 400 MB and
 * about ten seconds at the start of each epoch and after each resume. Another permutation would change the order of tasks in existing runs.
 */
function feistelPermutation(size: number, keys: readonly number[]): (index: number) => number {
  const halfBits = Math.ceil(Math.log2(size) / 2);
  const half = 2 ** halfBits;
  const round = (value: number, key: number): number => {
    let h = Math.imul(value ^ key, 0x9e3779b1);
    h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
    return ((h ^ (h >>> 13)) >>> 0) % half;
  };
  return (index) => {
    let value = index;
    do {
      let left = Math.floor(value / half);
      let right = value % half;
      for (const key of keys) [left, right] = [right, left ^ round(right, key)];
      value = left * half + right;
    } while (value >= size);
    return value;
  };
}

import type { RandomStream } from "@mrlm/spec";
import { randomStream } from "../random.ts";

/** Goes through 0..size-1 in random order, again and again, each epoch in another order. */
export interface EpochOrder {
  /** The next `count` indices; an epoch's end may fall within them. */
  take(count: number): number[];
  /** Indices taken so far: all that a continuation needs. */
  position(): number;
  seek(position: number): void;
}

/** Up to this many indices are shuffled in memory; larger sets are walked by a keyed permutation. */
const SHUFFLED_IN_MEMORY = 100_000;

/** The order of `size` rows under a seed. Sampling is without replacement within an epoch. */
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

/** Goes through 0..size-1 in this order, again and again. */
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
 * A permutation of 0..size-1 in constant memory: a balanced Feistel network over the next even power of two, walked until it lands inside
 * (cycle walking: Black & Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
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

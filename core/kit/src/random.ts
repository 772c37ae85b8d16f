import type { RandomStream } from "@mrlm/spec";
import { hash128 } from "./hash.ts";

type State = [number, number, number, number];

/**
 * Returns a stream of random numbers: sfc32 (Chris Doty-Humphrey, PractRand) with a state hashed from the seed and the name. Streams of
 * different names or seeds are independent.
 */
export function randomStream(name: string, seed: number | bigint): RandomStream {
  const origin = `${seed}/${name}`;
  let [a, b, c, counter]: State = hash128(origin);

  const next32 = (): number => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  };

  const next = (): number => (next32() * 0x200000 + (next32() >>> 11)) / 2 ** 53;

  const integer = (low: number, high: number): number => {
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || high < low) {
      throw new RangeError(`integer(${low}, ${high}) needs two whole numbers, the second no smaller than the first`);
    }
    return low + Math.floor(next() * (high - low + 1));
  };

  return {
    next,
    integer,
    pick(items) {
      if (items.length === 0) throw new RangeError("pick() needs at least one item");
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
    shuffle(items) {
      const result = [...items];
      for (let i = result.length - 1; i > 0; i--) {
        const j = integer(0, i);
        [result[i], result[j]] = [result[j] as (typeof result)[number], result[i] as (typeof result)[number]];
      }
      return result;
    },
    fork: (child) => randomStream(`${name}/${child}`, seed),
    state: () => [a, b, c, counter].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join(""),
    restore(state) {
      if (!/^[0-9a-f]{32}$/.test(state)) throw new RangeError(`"${state}" is not the state of a random stream`);
      [a, b, c, counter] = [0, 8, 16, 24].map(
        (start) => Number.parseInt(state.slice(start, start + 8), 16) | 0,
      ) as State;
    },
  };
}

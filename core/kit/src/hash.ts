/**
 * Hashes a string to 128 bits, returned as four unsigned 32-bit words: one code unit in each step, with the constants and the finaliser of
 * MurmurHash3 x86_128 (Austin Appleby, public domain). Not cryptographic. Equal on every machine.
 */
export function hash128(text: string, seed = 0): [number, number, number, number] {
  const multipliers = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93] as const;
  const state = [seed, seed, seed, seed];
  for (let i = 0; i < text.length; i++) {
    const lane = i & 3;
    let k = Math.imul(text.charCodeAt(i) + 1, multipliers[lane] as number);
    k = Math.imul((k << 15) | (k >>> 17), multipliers[(lane + 1) & 3] as number);
    let h = (state[lane] as number) ^ k;
    h = ((h << 19) | (h >>> 13)) + (state[(lane + 1) & 3] as number);
    state[lane] = (Math.imul(h, 5) + 0x561ccd1b) | 0;
  }
  const mixed = state.map((word, lane) => mix32(word ^ text.length ^ Math.imul(lane, 0x9e3779b9)));
  const sum = mixed.reduce((total, word) => (total + word) | 0, 0);
  return mixed.map((word) => mix32((word + sum) | 0) >>> 0) as [number, number, number, number];
}

/** Computes the 32-bit finaliser of MurmurHash3, in which each bit of the word affects all others. */
export function mix32(word: number): number {
  let h = word ^ (word >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Hashes a string to 64 bits. */
export function hash64(text: string, seed = 0): bigint {
  const [high, low] = hash128(text, seed);
  return (BigInt(high) << 32n) | BigInt(low);
}

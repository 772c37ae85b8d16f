/** Integer arithmetic on BigInt: gcd, roots, powers, factors. Sizes are bounded by the callers' work budget. */

export function abs(a: bigint): bigint {
  return a < 0n ? -a : a;
}

export function gcd(a: bigint, b: bigint): bigint {
  let x = abs(a);
  let y = abs(b);
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Returns the number of bits of |a|; 0 for 0. */
export function bitLength(a: bigint): number {
  if (a === 0n) return 0;
  const hex = abs(a).toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0] as string, 16)));
}

/** Returns the floor of the `degree`-th root of a non-negative integer (Newton's iteration from above). */
export function integerRoot(a: bigint, degree: number): bigint {
  if (a < 2n) return a;
  const k = BigInt(degree);
  let x = 1n << BigInt(Math.ceil(bitLength(a) / degree));
  for (;;) {
    const next = ((k - 1n) * x + a / x ** (k - 1n)) / k;
    if (next >= x) return x;
    x = next;
  }
}

const SMALL_PRIMES: readonly number[] = (() => {
  const primes: number[] = [];
  for (let n = 2; n < 2000; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return primes;
})();

/**
 * Factors a positive integer by trial division with the primes below 2000. The last entry may be a cofactor without
 * such primes, written as the highest power it is; it is prime when it is below 2000 squared. Two cofactors of
 * different integers can share a hidden prime; then `isComplete` is false.
 */
export function factor(n: bigint): { factors: Map<bigint, number>; isComplete: boolean } {
  const factors = new Map<bigint, number>();
  let rest = n;
  for (const prime of SMALL_PRIMES) {
    const p = BigInt(prime);
    if (p * p > rest) break;
    let count = 0;
    while (rest % p === 0n) {
      rest /= p;
      count++;
    }
    if (count > 0) factors.set(p, count);
  }
  if (rest === 1n) return { factors, isComplete: true };
  const isComplete = rest < 4_000_000n;
  let exponent = 1;
  if (!isComplete) {
    for (const k of [2, 3, 5, 7]) {
      for (;;) {
        const root = integerRoot(rest, k);
        if (root < 2n || root ** BigInt(k) !== rest) break;
        rest = root;
        exponent *= k;
      }
    }
  }
  factors.set(rest, (factors.get(rest) ?? 0) + exponent);
  return { factors, isComplete: isComplete || rest < 4_000_000n };
}

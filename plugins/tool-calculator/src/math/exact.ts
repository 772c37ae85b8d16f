/** Rational number: sign (-1n, 0n or 1n), numerator and denominator, both without sign and without a common factor. */
export interface Rational {
  readonly s: bigint;
  readonly n: bigint;
  readonly d: bigint;
}

/** Numerator with sign, and denominator. */
export type Quotient = readonly [numerator: bigint, denominator: bigint];

/** Thrown where a result is irrational, or has more digits than `EXACT_DIGITS`: the expression is then calculated approximately. */
export class NotExact extends Error {
  override readonly name = "NotExact";
}

/** Decimal digits up to which numerators and denominators stay exact. */
export const EXACT_DIGITS = 10_000;

const BITS_PER_DIGIT = Math.log2(10);
const EXACT_BITS = Math.ceil(EXACT_DIGITS * BITS_PER_DIGIT);

const bitLength = (value: bigint): number => value.toString(16).length * 4;

/** Throws NotExact if the numerator or the denominator has more than `EXACT_DIGITS` digits (to the next 4 bits). */
export function requireShort({ n, d }: Pick<Rational, "n" | "d">): void {
  if (bitLength(n) > EXACT_BITS || bitLength(d) > EXACT_BITS) throw new NotExact("too many digits");
}

/** Returns the value of a whole number within the range of `number`. Throws NotExact for others. */
function integerOf({ s, n, d }: Rational): number {
  if (d !== 1n || n > BigInt(Number.MAX_SAFE_INTEGER)) throw new NotExact("not a small integer");
  return Number(s * n);
}

/** Returns a power with an integer exponent, or a square root for exponents with denominator 2. Throws NotExact for other exponents and for long results. */
export function power(base: Rational, exponent: Rational): Quotient {
  if (exponent.d === 2n) {
    const [numerator, denominator] = squareRoot(base);
    const root = { s: 1n, n: numerator, d: denominator };
    return power(root, { s: exponent.s, n: exponent.n, d: 1n });
  }
  if (exponent.n === 0n) return [1n, 1n];
  if (base.n === 0n) {
    if (exponent.s < 0n) throw new Error("Division by zero");
    return [0n, 1n];
  }
  const magnitude = Math.abs(integerOf(exponent));
  if (Math.max(bitLength(base.n) - 4, bitLength(base.d) - 4, 0) * magnitude > EXACT_BITS) {
    throw new NotExact("too many digits");
  }
  const isUnit = base.n === 1n && base.d === 1n;
  const n = isUnit ? 1n : base.n ** BigInt(magnitude);
  const d = isUnit ? 1n : base.d ** BigInt(magnitude);
  const sign = base.s < 0n && magnitude % 2 === 1 ? -1n : 1n;
  return exponent.s < 0n ? [sign * d, n] : [sign * n, d];
}

/** Returns the square root of a square. Throws NotExact for other numbers. */
export function squareRoot({ s, n, d }: Rational): Quotient {
  if (s < 0n) throw new NotExact("not real");
  return [integerRoot(n), integerRoot(d)];
}

/** Newton's iteration on integers, from above. */
function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(bitLength(value) / 2));
  for (let next = (root + value / root) >> 1n; next < root; next = (root + value / root) >> 1n) root = next;
  if (root * root !== value) throw new NotExact("irrational");
  return root;
}

/** Returns n! for a whole number of at most 3,249, whose factorial has 10,000 digits. Throws NotExact for others. */
export function factorial(n: Rational): Quotient {
  const last = integerOf(n);
  return [last < 0 || last > 3249 ? notExact() : product(1, last), 1n];
}

/** Returns n! / (n - k)!. */
export function permutations(n: Rational, k: Rational): Quotient {
  const [from, chosen] = [integerOf(n), integerOf(k)];
  return [isShortChoice(from, chosen) ? product(from - chosen + 1, from) : notExact(), 1n];
}

/** Returns n! / (k! (n - k)!). */
export function combinations(n: Rational, k: Rational): Quotient {
  const [from, chosen] = [integerOf(n), integerOf(k)];
  const fewer = Math.min(chosen, from - chosen);
  return [isShortChoice(from, fewer) ? product(from - fewer + 1, from) / product(1, fewer) : notExact(), 1n];
}

function isShortChoice(from: number, chosen: number): boolean {
  return chosen >= 0 && chosen <= from && chosen * Math.log10(Math.max(from, 1)) <= EXACT_DIGITS;
}

/** Multiplies the integers from `low` to `high`, halves first: the factors stay of similar length. */
function product(low: number, high: number): bigint {
  if (high - low < 8) {
    let result = 1n;
    for (let factor = low; factor <= high; factor++) result *= BigInt(factor);
    return result;
  }
  const middle = Math.floor((low + high) / 2);
  return product(low, middle) * product(middle + 1, high);
}

function notExact(): never {
  throw new NotExact("not exact");
}

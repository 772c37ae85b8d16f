/**
 * exp, ln, sin, cos and atan to any precision: argument reduction, then Taylor series in fixed point (Brent and
 * Zimmermann, Modern Computer Arithmetic, chapter 4), and Newton steps from a double for the inverses.
 */
import { OutOfRange } from "./errors.ts";
import * as real from "./real.ts";
import type { Real } from "./real.ts";

const GUARD = 24;
/** Largest magnitude (in bits) of an argument that exp, sin and cos reduce. */
const LARGEST_ARGUMENT = 64;
const constants = new Map<string, bigint>();

/** Computes pi * 2^bits by Machin's formula. */
function fixedPi(bits: number): bigint {
  return remembered(`pi ${bits}`, () => {
    const work = bits + 16;
    const value = 4n * (4n * inverseTangent(5n, work) - inverseTangent(239n, work));
    return value >> 16n;
  });
}

/** Computes ln 2 * 2^bits = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749). */
function fixedLn2(bits: number): bigint {
  return remembered(`ln2 ${bits}`, () => {
    const work = bits + 16;
    const value =
      18n * inverseHyperbolic(26n, work) - 2n * inverseHyperbolic(4801n, work) + 8n * inverseHyperbolic(8749n, work);
    return value >> 16n;
  });
}

function remembered(key: string, compute: () => bigint): bigint {
  let value = constants.get(key);
  if (value === undefined) {
    value = compute();
    constants.set(key, value);
  }
  return value;
}

function inverseTangent(x: bigint, bits: number): bigint {
  let term = (1n << BigInt(bits)) / x;
  let total = term;
  for (let k = 3n, s = -1n; term !== 0n; k += 2n, s = -s) {
    term /= x * x;
    total += (s * term) / k;
  }
  return total;
}

function inverseHyperbolic(x: bigint, bits: number): bigint {
  let term = (1n << BigInt(bits)) / x;
  let total = term;
  for (let k = 3n; term !== 0n; k += 2n) {
    term /= x * x;
    total += term / k;
  }
  return total;
}

export function pi(bits: number): Real {
  return real.round(fixedPi(bits + GUARD), -bits - GUARD, bits);
}

export function exp(x: Real, bits: number): Real {
  if (x.mantissa === 0n) return real.ONE;
  if (real.magnitude(x) > LARGEST_ARGUMENT - 14) throw new OutOfRange("exponential of a huge number");
  const halvings = 12;
  const work = bits + GUARD + halvings + Math.max(0, real.magnitude(x));
  const fixed = real.toFixed(x, work);
  const ln2 = fixedLn2(work);
  const k = fixed / ln2;
  const r = (fixed - k * ln2) >> BigInt(halvings);
  const one = 1n << BigInt(work);
  const shift = BigInt(work);
  let term = one;
  let total = one;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * r) >> shift) / n;
    total += term;
  }
  for (let n = 0; n < halvings; n++) total = (total * total) >> shift;
  return real.round(total, Number(k) - work, bits);
}

/** Returns the natural logarithm of a positive number. */
export function ln(x: Real, bits: number): Real {
  const work = bits + GUARD;
  const shift = real.magnitude(x);
  const m: Real = { mantissa: x.mantissa, exponent: x.exponent - shift };
  let y = real.fromNumber(Math.log(real.toNumber(m)));
  for (let precision = 45; precision < work; precision *= 3) {
    const e = exp(y, work);
    const ratio = real.divide(real.subtract(m, e, work), real.add(m, e, work), work);
    y = real.add(y, { mantissa: ratio.mantissa * 2n, exponent: ratio.exponent }, work);
  }
  const whole = real.round(fixedLn2(work + 64) * BigInt(shift), -work - 64, work);
  return real.add(y, whole, bits);
}

/** Computes [sin x, cos x]. */
export function sineAndCosine(x: Real, bits: number): readonly [Real, Real] {
  if (x.mantissa === 0n) return [real.ZERO, real.ONE];
  if (real.magnitude(x) > LARGEST_ARGUMENT) throw new OutOfRange("sine of a huge number");
  const halvings = 10;
  const work = bits + GUARD + 2 * halvings + Math.max(0, real.magnitude(x));
  const fixed = real.toFixed(x, work);
  const half = fixedPi(work) >> 1n;
  const k = (fixed + (half >> 1n)) / half;
  const quarter = fixed + (half >> 1n) < 0n && k * half !== fixed + (half >> 1n) ? k - 1n : k;
  const r = (fixed - quarter * half) >> BigInt(halvings);
  const shift = BigInt(work);
  const one = 1n << shift;
  const square = (r * r) >> shift;
  let term = one;
  let versine = 0n;
  for (let n = 2n; term !== 0n && term !== -1n; n += 2n) {
    term = -((term * square) >> shift) / ((n - 1n) * n);
    versine -= term;
  }
  // 1 - cos(2t) = 2 v (2 - v), where v = 1 - cos(t): keeps small values exact to their own size.
  for (let n = 0; n < halvings; n++) versine = (2n * versine * (2n * one - versine)) >> shift;
  const cosine = one - versine;
  const sineSquare = (versine * (2n * one - versine)) >> shift;
  const root = real.squareRoot({ mantissa: sineSquare < 0n ? 0n : sineSquare, exponent: -work }, work);
  const sine = r < 0n ? real.negate(root) : root;
  const s = real.round(sine.mantissa, sine.exponent, bits);
  const c = real.round(cosine, -work, bits);
  switch (Number(((quarter % 4n) + 4n) % 4n)) {
    case 0:
      return [s, c];
    case 1:
      return [c, real.negate(s)];
    case 2:
      return [real.negate(s), real.negate(c)];
    default:
      return [real.negate(c), s];
  }
}

export function arctangent(x: Real, bits: number): Real {
  if (x.mantissa === 0n) return real.ZERO;
  const work = bits + GUARD;
  if (real.magnitude(x) > 40) {
    const quarterTurn = real.divide(pi(work), { mantissa: 2n, exponent: 0 }, work);
    const rest = arctangent(real.divide(real.ONE, x, work), work);
    return real.subtract(x.mantissa < 0n ? real.negate(quarterTurn) : quarterTurn, rest, bits);
  }
  if (real.magnitude(x) < -bits) return x;
  let y = real.fromNumber(Math.atan(real.toNumber(x)));
  for (let precision = 45; precision < work; precision *= 3) {
    const [s, c] = sineAndCosine(y, work);
    const top = real.subtract(real.multiply(x, c, work), s, work);
    const bottom = real.add(c, real.multiply(x, s, work), work);
    const d = real.divide(top, bottom, work);
    const cube = real.multiply(real.multiply(d, d, work), d, work);
    y = real.add(y, real.subtract(d, real.divide(cube, { mantissa: 3n, exponent: 0 }, work), work), work);
  }
  return real.round(y.mantissa, y.exponent, bits);
}

/**
 * Binary floating-point numbers of any precision: mantissa * 2^exponent. Operations round to `bits`; the relative
 * error of each is a few units in the last place. Exponents are ordinary numbers, so nothing overflows below 2^(2^50).
 */
import { bitLength, integerRoot } from "../exact/integer.ts";
import type { Rational } from "../exact/rational.ts";

export type Real = { readonly mantissa: bigint; readonly exponent: number };

export const ZERO: Real = { mantissa: 0n, exponent: 0 };
export const ONE: Real = { mantissa: 1n, exponent: 0 };

/** Rounds (toward minus infinity) to at most `bits` bits. */
export function round(mantissa: bigint, exponent: number, bits: number): Real {
  if (mantissa === 0n) return ZERO;
  const excess = bitLength(mantissa) - bits;
  return excess > 0 ? { mantissa: mantissa >> BigInt(excess), exponent: exponent + excess } : { mantissa, exponent };
}

export function fromRational(value: Rational, bits: number): Real {
  if (value.d === 1n) return round(value.n, 0, bits);
  const shift = Math.max(0, bits + bitLength(value.d) - bitLength(value.n) + 1);
  return round((value.n << BigInt(shift)) / value.d, -shift, bits);
}

export function fromNumber(value: number): Real {
  if (value === 0) return ZERO;
  let exponent = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent--;
  }
  return { mantissa: BigInt(mantissa), exponent };
}

/** Returns the position of the leading bit: |a| is in [2^(magnitude-1), 2^magnitude); -Infinity for zero. */
export function magnitude(a: Real): number {
  return a.mantissa === 0n ? Number.NEGATIVE_INFINITY : bitLength(a.mantissa) + a.exponent;
}

export function toNumber(a: Real): number {
  const excess = Math.max(0, bitLength(a.mantissa) - 60);
  return Number(a.mantissa >> BigInt(excess)) * 2 ** (a.exponent + excess);
}

export function sign(a: Real): number {
  return a.mantissa < 0n ? -1 : a.mantissa > 0n ? 1 : 0;
}

export function negate(a: Real): Real {
  return { mantissa: -a.mantissa, exponent: a.exponent };
}

export function add(a: Real, b: Real, bits: number): Real {
  if (a.mantissa === 0n) return b;
  if (b.mantissa === 0n) return a;
  const gap = magnitude(a) - magnitude(b);
  if (gap > bits + 4) return a;
  if (gap < -bits - 4) return b;
  const shift = a.exponent - b.exponent;
  return shift >= 0
    ? round((a.mantissa << BigInt(shift)) + b.mantissa, b.exponent, bits)
    : round(a.mantissa + (b.mantissa << BigInt(-shift)), a.exponent, bits);
}

export function subtract(a: Real, b: Real, bits: number): Real {
  return add(a, negate(b), bits);
}

export function multiply(a: Real, b: Real, bits: number): Real {
  return round(a.mantissa * b.mantissa, a.exponent + b.exponent, bits);
}

/** Returns a/b; `b` must not be zero. */
export function divide(a: Real, b: Real, bits: number): Real {
  if (a.mantissa === 0n) return ZERO;
  const shift = Math.max(0, bits + bitLength(b.mantissa) - bitLength(a.mantissa) + 1);
  return round((a.mantissa << BigInt(shift)) / b.mantissa, a.exponent - b.exponent - shift, bits);
}

/** Returns the square root of a non-negative number. */
export function squareRoot(a: Real, bits: number): Real {
  if (a.mantissa === 0n) return ZERO;
  let shift = Math.max(0, 2 * bits - bitLength(a.mantissa));
  if ((a.exponent - shift) % 2 !== 0) shift++;
  return round(integerRoot(a.mantissa << BigInt(shift), 2), (a.exponent - shift) / 2, bits);
}

/** Returns the integer nearest to a and a minus it. The caller bounds the magnitude. */
export function nearestInteger(a: Real): bigint {
  if (a.exponent >= 0) return a.mantissa << BigInt(a.exponent);
  const shift = BigInt(-a.exponent);
  return (a.mantissa + (1n << (shift - 1n))) >> shift;
}

/** Returns the fixed-point value floor(a * 2^bits). */
export function toFixed(a: Real, bits: number): bigint {
  const shift = a.exponent + bits;
  return shift >= 0 ? a.mantissa << BigInt(shift) : a.mantissa >> BigInt(-shift);
}

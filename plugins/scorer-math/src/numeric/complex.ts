/** Complex numbers of any precision, with principal values. */
import * as fn from "./elementary.ts";
import * as real from "./real.ts";
import type { Real } from "./real.ts";

export type Complex = { readonly re: Real; readonly im: Real };

export const ZERO: Complex = { re: real.ZERO, im: real.ZERO };
export const ONE: Complex = { re: real.ONE, im: real.ZERO };
export const I: Complex = { re: real.ZERO, im: real.ONE };

export function fromReal(re: Real): Complex {
  return { re, im: real.ZERO };
}

export function isReal(a: Complex): boolean {
  return a.im.mantissa === 0n;
}

export function isZero(a: Complex): boolean {
  return a.re.mantissa === 0n && a.im.mantissa === 0n;
}

export function negate(a: Complex): Complex {
  return { re: real.negate(a.re), im: real.negate(a.im) };
}

export function add(a: Complex, b: Complex, bits: number): Complex {
  return { re: real.add(a.re, b.re, bits), im: real.add(a.im, b.im, bits) };
}

export function multiply(a: Complex, b: Complex, bits: number): Complex {
  if (isReal(a) && isReal(b)) return fromReal(real.multiply(a.re, b.re, bits));
  return {
    re: real.subtract(real.multiply(a.re, b.re, bits), real.multiply(a.im, b.im, bits), bits),
    im: real.add(real.multiply(a.re, b.im, bits), real.multiply(a.im, b.re, bits), bits),
  };
}

/** Computes 1/a; `a` must not be zero. */
export function inverse(a: Complex, bits: number): Complex {
  if (isReal(a)) return fromReal(real.divide(real.ONE, a.re, bits));
  const norm = squaredNorm(a, bits);
  return { re: real.divide(a.re, norm, bits), im: real.negate(real.divide(a.im, norm, bits)) };
}

export function squaredNorm(a: Complex, bits: number): Real {
  return real.add(real.multiply(a.re, a.re, bits), real.multiply(a.im, a.im, bits), bits);
}

export function modulus(a: Complex, bits: number): Real {
  if (isReal(a)) return a.re.mantissa < 0n ? real.negate(a.re) : a.re;
  return real.squareRoot(squaredNorm(a, bits), bits);
}

/** Returns the argument in (-pi, pi]. */
export function argument(a: Complex, bits: number): Real {
  const halfTurn = fn.pi(bits);
  if (isReal(a)) return a.re.mantissa < 0n ? halfTurn : real.ZERO;
  if (a.re.mantissa === 0n) {
    const quarter: Real = { mantissa: halfTurn.mantissa, exponent: halfTurn.exponent - 1 };
    return a.im.mantissa < 0n ? real.negate(quarter) : quarter;
  }
  const angle = fn.arctangent(real.divide(a.im, a.re, bits), bits);
  if (a.re.mantissa > 0n) return angle;
  return a.im.mantissa < 0n ? real.subtract(angle, halfTurn, bits) : real.add(angle, halfTurn, bits);
}

export function exp(a: Complex, bits: number): Complex {
  const size = fn.exp(a.re, bits);
  if (isReal(a)) return fromReal(size);
  const [s, c] = fn.sineAndCosine(a.im, bits);
  return { re: real.multiply(size, c, bits), im: real.multiply(size, s, bits) };
}

/** Returns the principal logarithm of a number that is not zero. */
export function ln(a: Complex, bits: number): Complex {
  return { re: fn.ln(modulus(a, bits), bits), im: argument(a, bits) };
}

export function squareRoot(a: Complex, bits: number): Complex {
  if (isReal(a))
    return a.re.mantissa < 0n
      ? { re: real.ZERO, im: real.squareRoot(real.negate(a.re), bits) }
      : fromReal(real.squareRoot(a.re, bits));
  const half = ln(a, bits);
  const halved = {
    re: { mantissa: half.re.mantissa, exponent: half.re.exponent - 1 },
    im: { mantissa: half.im.mantissa, exponent: half.im.exponent - 1 },
  };
  return exp(halved, bits);
}

export function sineAndCosine(a: Complex, bits: number): readonly [Complex, Complex] {
  const [s, c] = fn.sineAndCosine(a.re, bits);
  if (isReal(a)) return [fromReal(s), fromReal(c)];
  const up = fn.exp(a.im, bits);
  const down = real.divide(real.ONE, up, bits);
  const half = (x: Real): Real => ({ mantissa: x.mantissa, exponent: x.exponent - 1 });
  const cosh = half(real.add(up, down, bits));
  const sinh = half(real.subtract(up, down, bits));
  return [
    { re: real.multiply(s, cosh, bits), im: real.multiply(c, sinh, bits) },
    { re: real.multiply(c, cosh, bits), im: real.negate(real.multiply(s, sinh, bits)) },
  ];
}

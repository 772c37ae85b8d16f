import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import * as fn from "../src/numeric/elementary.ts";
import * as real from "../src/numeric/real.ts";

const BITS = 256;
const from = (value: number): real.Real => real.fromNumber(value);

/** Returns the first `digits` decimals of a positive number. */
function decimals(value: real.Real, digits: number): string {
  const scaled = (real.toFixed(value, 400) * 10n ** BigInt(digits)) >> 400n;
  const text = scaled.toString().padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Returns the number of bits to which two numbers agree, relative to the larger. */
function agreement(a: real.Real, b: real.Real): number {
  const difference = real.magnitude(real.subtract(a, b, BITS + 64));
  return Math.max(real.magnitude(a), real.magnitude(b)) - difference;
}

describe("elementary functions to 256 bits", () => {
  test("known digits", () => {
    expect(decimals(fn.pi(BITS), 50)).toBe("3.14159265358979323846264338327950288419716939937510");
    expect(decimals(fn.exp(real.ONE, BITS), 50)).toBe("2.71828182845904523536028747135266249775724709369995");
    expect(decimals(fn.ln(from(2), BITS), 50)).toBe("0.69314718055994530941723212145817656807550013436025");
    expect(decimals(real.squareRoot(from(2), BITS), 50)).toBe("1.41421356237309504880168872420969807856967187537694");
    expect(decimals(fn.sineAndCosine(real.ONE, BITS)[0], 50)).toBe(
      "0.84147098480789650665250232163029899962256306079837",
    );
  });

  const argument = fc.double({ min: -40, max: 40, noNaN: true }).filter((x) => Math.abs(x) > 1e-6);

  test("the logarithm undoes the exponential", () => {
    fc.assert(
      fc.property(argument, (x) => {
        expect(agreement(fn.ln(fn.exp(from(x), BITS), BITS), from(x))).toBeGreaterThan(BITS - 40);
      }),
      { numRuns: 200 },
    );
  });

  test("the sine and the cosine lie on the circle, and the arc tangent undoes their quotient", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1.5, max: 1.5, noNaN: true }).filter((x) => Math.abs(x) > 1e-6),
        (x) => {
          const [s, c] = fn.sineAndCosine(from(x), BITS);
          const norm = real.add(real.multiply(s, s, BITS), real.multiply(c, c, BITS), BITS);
          expect(agreement(norm, real.ONE)).toBeGreaterThan(BITS - 10);
          expect(agreement(fn.arctangent(real.divide(s, c, BITS), BITS), from(x))).toBeGreaterThan(BITS - 40);
        },
      ),
      { numRuns: 200 },
    );
  });
});

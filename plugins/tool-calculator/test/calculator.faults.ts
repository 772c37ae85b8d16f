import { afterAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CalculatorToolset } from "../src/calculator-toolset.ts";
import { evaluateIn } from "./support/evaluate-in.ts";
import { exhausting, forbidden } from "./support/hostile-expressions.ts";

const toolset = new CalculatorToolset({ workers: 2, timeoutMs: 100, memoryMb: 128, outputBytes: 1024 });

afterAll(() => toolset.close());

test.each(exhausting)("%s is an error, and the calculator works after it", async (expression) => {
  const { text, isError } = await evaluateIn(toolset, expression);
  expect(text).toMatch(/^Error: The calculation (took more than 0.1 s|exceeded the memory of 128 MiB)/);
  expect(isError).toBe(true);
  expect((await evaluateIn(toolset, "1/3 + 1/6")).text).toBe("0.5");
});

test.each(forbidden)("%s is an error", async (expression, message) => {
  const { text, isError } = await evaluateIn(toolset, expression);
  expect(text).toContain(message);
  expect(isError).toBe(true);
});

/** Calls of functions whose work or memory grows quickly with their arguments. */
const { costly } = fc.letrec<{ costly: string }>((tie) => {
  const large = fc.constantFrom("3", "40", "1e4", "2^20", "1e9", "1e12", "10^400", "1e1000000", "0.5", "-7", "i");
  const argument = fc.oneof({ maxDepth: 3, withCrossShrink: true }, large, tie("costly"));
  const one =
    "factorial zeros ones identity setPowerset bellNumbers catalan isPrime gamma lgamma eigs inv det fft cumsum primes sum";
  const two = "combinations stirlingS2 kron range nthRoot pow leftShift setCartesian multinomial xgcd invmod dotPow";
  return {
    costly: fc.oneof(
      fc.tuple(fc.constantFrom(...one.split(" ")), argument).map(([name, a]) => `${name}(${a})`),
      fc.tuple(fc.constantFrom(...two.split(" ")), argument, argument).map(([name, a, b]) => `${name}(${a}, ${b})`),
      fc.tuple(argument, argument).map(([a, b]) => `(${a}:${b})`),
      fc.tuple(argument, argument).map(([a, b]) => `(${a})^(${b})`),
    ),
  };
});

test("100 generated expressions give a result or an error, and none changes the next result", async () => {
  const next = "1/3 + sqrt(2)";
  const { text: expected } = await evaluateIn(toolset, next);
  await fc.assert(
    fc.asyncProperty(costly, async (expression) => {
      const { text, isError } = await evaluateIn(toolset, expression);
      expect(text).not.toBe("");
      expect(isError).toBe(text.startsWith("Error: "));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
      expect((await evaluateIn(toolset, next)).text).toBe(expected);
    }),
    { numRuns: 100 },
  );
});

import { afterAll, expect, test } from "@jest/globals";
import { CalculatorToolset } from "../src/calculator-toolset.ts";

/** Expressions that need more time or memory than there is: each ends a worker, never this process. */
const exhausting = [
  "1:1e12",
  "sum(1:1e9)",
  "zeros(1e8)",
  "zeros(1e5, 1e5)",
  "ones(2^27)",
  "identity(1e5)",
  "(10^9000)!",
  "9^9^9^9",
  "factorial(1e12)",
  "a = [1]; a[2^28] = 5",
  "kron(1:1000, kron(1:1000, 1:1000))",
  "setPowerset(1:40)",
  "bitAnd(2^1e6, 1)",
  "combinations(1e9, 5e8)",
];

/** Expressions that would reach the library, JavaScript or the parser. */
const forbidden: readonly (readonly [expression: string, message: string])[] = [
  ["import({a: 1}, {override: true})", "The function import is disabled"],
  ['createUnit("foo")', "The function createUnit is disabled"],
  ['evaluate("1 + 1")', "The function evaluate is disabled"],
  ['parse("1 + 1")', "The function parse is disabled"],
  ['simplify("x + x")', "The function simplify is disabled"],
  ['derivative("x^2", "x")', "The function derivative is disabled"],
  ['resolve("x", {x: 1})', "The function resolve is disabled"],
  ["reviver", "The function reviver is disabled"],
  ["config({precision: 1})", "The function config is disabled"],
  ["typed(sin, cos)", "The function typed is disabled"],
  ["parser()", "The function parser is disabled"],
  ["random()", "The function random is disabled"],
  ["f(x) = f(x); f(1)", "Functions cannot be defined"],
  ["map([1, 2], g(x) = x)", "Functions cannot be defined"],
  ["sin = cos", "The name sin is taken"],
  ["pi = 3", "The name pi is taken"],
  ["f = sqrt; f(4)", "sqrt is a function. Call it"],
  ["[sin, cos]", "sin is a function. Call it"],
  ["map([1, 2], map)", "map is a function. Call it"],
  ["map([true], and)", "and"],
  ["cos.constructor", "Properties are not supported"],
  ['cos["constructor"]', "Properties are not supported"],
  ['cos["constructor"]("return process")', "Only a function can be called"],
  ["a = [1]; a.__proto__ = 1", "Properties are not supported"],
  ["{a: 1}", "Objects are not supported"],
  ['"text"', "Text is not supported"],
  ['concat("a", "b")', "Text is not supported"],
  ["constructor", "Unknown name constructor"],
  ["__proto__", "Unknown name __proto__"],
  ["process", "Unknown name process"],
  ["globalThis", "Unknown name globalThis"],
  ["chain(1)", "Undefined function chain"],
  ["version", "Unknown name version"],
  ["format(pi, 1e9)", "Unknown name format"],
  ["matrixFromFunction([1e6, 1e6], sin)", "Unknown name matrixFromFunction"],
  ["mapSlices([1], 1, sin)", "Unknown name mapSlices"],
  ["(1, 2)(3)", "Parenthesis ) expected"],
  ["[1][1](2)", "Only a function can be called"],
  ["(".repeat(4_000), "nested too deeply"],
  ["[".repeat(2_000) + "]".repeat(2_000), "nested too deeply"],
];

const toolset = new CalculatorToolset({ workers: 2, timeoutMs: 100, memoryMb: 128, outputBytes: 1024 });
const { signal } = new AbortController();

afterAll(() => toolset.close());

async function call(expression: string): Promise<{ text: string; isError: boolean }> {
  const { tools, close } = await toolset.open();
  const { content, isError } = await tools[0]!.call({ expression }, { signal });
  await close();
  const [part] = content;
  return { text: part?.type === "text" ? part.text : "", isError };
}

test(`${exhausting.length} exhausting expressions are errors, and the calculator works after each`, async () => {
  const results = await Promise.all(
    exhausting.map(async (expression) => {
      const result = await call(expression);
      return { ...result, expression, next: (await call("1/3 + 1/6")).text };
    }),
  );
  for (const { expression, text, isError, next } of results) {
    expect({ expression, isError, next }).toEqual({ expression, isError: true, next: "0.5" });
    expect(text).toMatch(/^Error: The calculation (took more than 0.1 s|exceeded the memory of 128 MiB)/);
  }
});

test(`${forbidden.length} expressions that would leave the calculator are errors`, async () => {
  expect(exhausting.length + forbidden.length).toBeGreaterThanOrEqual(30);
  for (const [expression, message] of forbidden) {
    const { text, isError } = await call(expression);
    expect({ expression, isError }).toEqual({ expression, isError: true });
    expect(text).toContain(message);
  }
});

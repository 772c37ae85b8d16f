import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseClientJson } from "../src/http.ts";

const keys = (count: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`"${i}\\`, value]));

test("U8: reads JSON as JSON.parse does, also with many small objects", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 5 }), (text) => expect(parseClientJson(text)).toEqual(JSON.parse(text))));
  const small = Array.from({ length: 3_000 }, () => ({ a: '":,{[', "b\\": [{ c: ":".repeat(9) }], 'd"': "}]" }));
  expect(parseClientJson(JSON.stringify(small))).toEqual(small);
  const most = { list: [keys(10_000), keys(10_000)] };
  expect(parseClientJson(JSON.stringify(most))).toEqual(most);
});

test("U8: refuses an object of more than 10,000 keys, wherever it stands", () => {
  for (const value of [keys(10_001), [[{ a: [keys(10_001)] }]], { ...keys(9_000), x: keys(10_001) }])
    expect(() => parseClientJson(JSON.stringify(value))).toThrow("more than 10000 keys");
  const doubled = `{${Array.from({ length: 10_001 }, () => '"a": 1').join()}}`;
  expect(() => parseClientJson(doubled)).toThrow("more than 10000 keys");
});

test("U8: malformed texts are refused as JSON.parse refuses them", () => {
  const text = JSON.stringify(Array.from({ length: 6_000 }, () => ({ a: "x", b: { c: 1 } })));
  fc.assert(
    fc.property(fc.nat(text.length), fc.constantFrom('"', "{", "}", "[", "]", ":", "\\", ""), (at, inserted) => {
      const broken = text.slice(0, at) + inserted + text.slice(at + 1);
      let expected: unknown;
      try {
        expected = JSON.parse(broken);
      } catch {
        expect(() => parseClientJson(broken)).toThrow(SyntaxError);
        return;
      }
      expect(parseClientJson(broken)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

test("what no observation may hold is refused: numbers that are not finite, and 900 levels", () => {
  const nested = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
  expect(() => parseClientJson('{"metadata": {"a": [1e999]}}')).toThrow("a number that is too large");
  expect(parseClientJson(nested(900))).toBeDefined();
  expect(() => parseClientJson(nested(901))).toThrow("nested deeper than 900 levels");
});

import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { readRemoteJson } from "../src/bridge/remote-json.ts";

test("bare words of Python for numbers become strings, and strings stay as they are", () => {
  const text = String.raw`{"a": NaN, "b": [Infinity, -Infinity, 1e999], "c": "NaN \"Infinity\" \\", "d": NaN}`;
  expect(readRemoteJson(text, "The answer")).toEqual({
    a: "NaN",
    b: ["Infinity", "-Infinity", "Infinity"],
    c: String.raw`NaN "Infinity" ` + "\\",
    d: "NaN",
  });
});

test("any JSON beside a bare word is read as it was written", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      expect(readRemoteJson(`[NaN, ${JSON.stringify(value)}]`, "The answer")).toEqual(["NaN", plain]);
    }),
    { seed: 3, numRuns: 200 },
  );
});

test.each([
  ["quotes that do not end", `[NaN, ${'"'.repeat(300_001)}`],
  ["escaped quotes", `[NaN, ${String.raw`\"`.repeat(150_000)}`],
  ["backslashes", `[NaN, "${"\\".repeat(300_001)}`],
  ["words", "NaN ".repeat(100_000)],
  ["levels (U5)", `{"data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ["levels with a bare word (U5)", `{"a":NaN,"data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ["levels with a large number (U5)", `{"a":1e999,"data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
])("hostile text of %s is refused without exhausting stack or time", (_, text) => {
  expect(() => readRemoteJson(text, "The answer")).toThrow(
    expect.objectContaining({ code: "BRIDGE_RESPONSE_INVALID" }),
  );
});

test("a long answer with a bare word is read", () => {
  const long = "x\\n".repeat(3_000_000);
  expect(readRemoteJson(`{"value": NaN, "text": "${long}"}`, "The answer")).toMatchObject({ value: "NaN" });
});

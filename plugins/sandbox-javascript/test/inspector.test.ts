import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { format, inspect } from "node-inspect-extracted";
import { makeInspector } from "../src/isolate/inspector.ts";

const primitive = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, "%s", "100%", "it's", "a\\b", "\n"),
);
const value = fc.oneof(primitive, fc.array(primitive), fc.dictionary(fc.string(), primitive));

/** Returns the text of the result or of the error. */
const outcome = (run: () => string): string => {
  try {
    return run();
  } catch (error) {
    return `thrown: ${String(error)}`;
  }
};

describe("values are shown", () => {
  const library = { format, inspect: (shown: unknown) => inspect(shown) };

  test("as Node shows them", () => {
    const ours = makeInspector(() => library);
    fc.assert(
      fc.property(value, (shown) =>
        expect(outcome(() => ours.inspect(shown))).toBe(outcome(() => library.inspect(shown))),
      ),
    );
    fc.assert(
      fc.property(fc.array(value), (values) =>
        expect(outcome(() => ours.format(...values))).toBe(outcome(() => library.format(...values))),
      ),
    );
  });

  test("without Node's way where they are plain", () => {
    const ours = makeInspector(() => {
      throw new Error("made");
    });
    expect(ours.format("a", 1, -0, 2n, true, null, undefined, "100%")).toBe("a 1 -0 2n true null undefined 100%");
    expect(ours.inspect("short")).toBe("'short'");
    expect(() => ours.format("%s", 1)).toThrow("made");
  });
});

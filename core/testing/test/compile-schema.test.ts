import { describe, expect, test } from "@jest/globals";
import { compileSchema, OPTIONS, PARAMETERS } from "../src/check/compile-schema.ts";

/** A pair of a text and a number, in the words of each draft. */
const PAIRS = {
  "http://json-schema.org/draft-07/schema#": {
    items: [{ type: "string" }, { type: "number" }],
    additionalItems: false,
  },
  "https://json-schema.org/draft/2019-09/schema": {
    items: [{ type: "string" }, { type: "number" }],
    unevaluatedItems: false,
  },
  "https://json-schema.org/draft/2020-12/schema": {
    prefixItems: [{ type: "string" }, { type: "number" }],
    items: false,
  },
} as const;

describe.each(Object.entries(PAIRS))("a schema of %s", ($schema, rules) => {
  test("is read by the rules of its draft", () => {
    const validate = compileSchema({ $schema, type: "array", minItems: 2, ...rules } as never, OPTIONS);
    expect(
      [
        ["a", 1],
        ["a", "b"],
        ["a", 1, 2],
      ].map((value) => validate(value)),
    ).toEqual([true, false, false]);
  });
});

test("a schema of another draft is an error that names it", () => {
  expect(() => compileSchema({ $schema: "http://json-schema.org/draft-04/schema#" }, OPTIONS)).toThrow(
    "The JSON Schema is of json-schema.org/draft-04/schema, and only those of json-schema.org/draft-07/schema",
  );
});

test("parameters of tools have no unknown keyword; options may", () => {
  const schema = { type: "object", unit: "seconds" };
  expect(() => compileSchema(schema, PARAMETERS)).toThrow('unknown keyword: "unit"');
  expect(compileSchema(schema, OPTIONS)({})).toBe(true);
});

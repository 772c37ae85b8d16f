import { describe, expect, test } from "@jest/globals";
import { isTooDeep, parseJson, parseStrictJson } from "@mrlm/spec";
import fc from "fast-check";

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const objects = (levels: number): string => '{"a":'.repeat(levels - 1) + "{}" + "}".repeat(levels - 1);

describe("U5: depth", () => {
  test.each([lists, objects])("a thousand levels are read, more are refused, and none exhausts the stack", (nested) => {
    for (const levels of [1, 1_000]) expect(parseJson(nested(levels))).toEqual(JSON.parse(nested(levels)));
    for (const levels of [1_001, 200_000, 4_000_000])
      expect(() => parseJson(nested(levels))).toThrow("it is nested deeper than 1000 levels");
  });

  test("brackets in texts are no levels, and wide values are read", () => {
    expect(parseJson(JSON.stringify("[".repeat(10_000)))).toBe("[".repeat(10_000));
    expect(isTooDeep(Array.from({ length: 100_000 }, () => ({ a: [1] })))).toBe(false);
  });

  test("property: other texts give what JSON.parse gives", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(outcome(() => parseJson(text))).toEqual(outcome(() => JSON.parse(text)));
      }),
    );
  });
});

describe("D16: keys", () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":{},"a":2}',
    '[{"b":{"a":1 , "a" :2}}]',
    '{"a":1,"\\u0061":2}',
    '{"\\"":1,"\\"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"x":"}","a":[{"a":"]"}],"a":0}',
    '{"":1,"":2}',
  ])("%s has a key twice", (text) => {
    expect(() => parseStrictJson(text)).toThrow(/^the key ".*" occurs twice$/);
  });

  test.each(['{"a":{"a":1},"b":"a"}', '["a","a"]', '{"a":"b","b":"a:"}', '{"a":[{"b":1},{"b":1}]}', '"\\\\"'])(
    "%s has none twice",
    (text) => expect(parseStrictJson(text)).toEqual(JSON.parse(text)),
  );

  test("property: a text of JSON.stringify has no key twice, and one more member with a known key is found", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, pick) => {
        const text = JSON.stringify(value);
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
        const keys = Object.keys(value);
        const doubled = `${text.slice(0, -1)}, ${JSON.stringify(keys[pick % keys.length])} : null}`;
        expect(() => parseStrictJson(doubled)).toThrow("occurs twice");
      }),
    );
  });
});

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

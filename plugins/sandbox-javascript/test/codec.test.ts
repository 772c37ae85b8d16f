import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { makeCodec } from "../src/guest/codec.ts";

const { encode, decode, update } = makeCodec();

const leaf = fc.oneof(
  fc.string({ unit: "grapheme" }), fc.double(), fc.integer(), fc.bigInt(), fc.boolean(), fc.constantFrom<unknown>(null, undefined, -0, Number.NaN),
  fc.date({ noInvalidDate: true }), fc.uint8Array({ maxLength: 4 }), fc.float64Array({ maxLength: 4 }), fc.bigInt64Array({ maxLength: 3 }), fc.constantFrom<unknown>(/a+/gi, new RangeError("no")),
);
const { value: plain } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie("array"), tie("record"), tie("map"), tie("set")),
  array: fc.array(tie("value"), { maxLength: 4 }),
  record: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("$", "v", "k", "__proto__", "toJSON")), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  map: fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
  set: fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
}));

/** JSON with every tag in every place. */
const { value: forged } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.array(tie("value"), { maxLength: 3 }), tie("tagged")),
  tagged: fc.record({
    $: fc.oneof(fc.constantFrom(..."nubdmstexofipz"), tie("value")),
    k: fc.oneof(fc.constantFrom("constructor", "__proto__", "Uint8Array", "BigInt64Array", "TypeError", "g"), tie("value")),
    v: fc.oneof(tie("value"), fc.array(fc.tuple(fc.constantFrom("__proto__", "constructor", "a"), tie("value")), { maxLength: 3 })),
  }),
}));
const BUILT_IN: readonly unknown[] = [
  Object, Array, Date, Map, Set, RegExp, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
].map(({ prototype }) => prototype);

describe("plain data between the isolates", () => {
  test("arrives as it was sent", () => {
    fc.assert(fc.property(plain, (value) => expect(decode(encode(value))).toStrictEqual(value)), { numRuns: 500 });
  });

  test("is made of built-in types and of nothing shared, whatever text has come", () => {
    fc.assert(
      fc.property(forged, (json) => {
        let value: unknown;
        try {
          value = decode(JSON.stringify(json));
        } catch (error) {
          return expect(error).toBeInstanceOf(Error);
        }
        if (typeof value === "object" && value !== null) expect(BUILT_IN).toContain(Object.getPrototypeOf(value));
      }),
      { numRuns: 1000 },
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(decode('{"$":"o","v":[["__proto__",{"polluted":1}]]}') as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("changes its copy in place", () => {
    const target = { list: [1, { deep: 2 }], gone: 1, map: new Map([["a", [1]]]) };
    const [list, inner] = [target.list, target.list[1]];
    expect(update(target, { list: [0, { deep: 3 }, 4], map: new Map([["a", [1, 2]]]) })).toBe(true);
    expect(target).toEqual({ list: [0, { deep: 3 }, 4], map: new Map([["a", [1, 2]]]) });
    expect(target.list).toBe(list);
    expect(target.list[1]).toBe(inner);
    expect(update([], {})).toBe(false);
  });

  test("is refused where it is none", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    for (const value of [circle, Symbol("s"), () => 1]) expect(() => encode(value)).toThrow(TypeError);
  });
});

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { makeDecoder } from "../src/isolate/decode.ts";
import { makeEncoder } from "../src/isolate/encode.ts";
import { makeErrorDescriber } from "../src/isolate/errors.ts";
import { type CallOther, type Link, makeLink } from "../src/isolate/link.ts";
import { makeUpdater } from "../src/isolate/update.ts";
import { Intrinsics } from "./support/intrinsics.ts";

const encode = makeEncoder();
const decode = makeDecoder();
const update = makeUpdater();
const crossed = (value: unknown): unknown =>
  decode(JSON.parse(encode([value], undefined, [])), undefined, []).values[0];

const leaf = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom<unknown>(null, undefined, -0, Number.NaN),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 4 }),
  fc.float64Array({ maxLength: 4 }),
  fc.bigInt64Array({ maxLength: 3 }),
  fc
    .constantFrom<() => unknown>(
      () => /a+/gi,
      () => new RangeError("no"),
      () => Object(7),
      () => new ArrayBuffer(3),
    )
    .map((make) => make()),
);
const { value: plain } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie("array"), tie("record"), tie("map"), tie("set")),
  array: fc.oneof(fc.array(tie("value"), { maxLength: 4 }), fc.sparseArray(tie("value"), { maxLength: 4 })),
  record: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("$", "v", "k", "__proto__", "toJSON")), tie("value"), {
    maxKeys: 4,
  }),
  map: fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
  set: fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
}));

const key = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then",
  "next",
  "length",
  "push",
  "message",
  "name",
  "stack",
  "cause",
  "exec",
  "a",
);
/** JSON with every tag in every position. */
const { value: forged } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("tagged"),
    tie("tagged"),
    tie("record"),
  ),
  record: fc.dictionary(key, tie("value"), { maxKeys: 3 }),
  tagged: fc.record({
    $: fc.oneof(fc.constantFrom<unknown>(..."nubfkpijozlhmsdtwex", 0, 1, 2, 5, -1, 0.5), tie("value")),
    k: fc.oneof(
      fc.constantFrom("constructor", "__proto__", "Uint8Array", "BigInt64Array", "TypeError", "AggregateError", "g"),
      tie("value"),
    ),
    v: fc.oneof(
      tie("value"),
      tie("entries"),
      fc.nat(3),
      fc.constantFrom("s1", "t1", "t2", ".f", "constructor", "-0", "9"),
    ),
    n: fc.oneof(fc.string(), tie("value")),
    o: fc.oneof(tie("entries"), tie("value")),
    h: fc.oneof(tie("entries"), tie("value")),
    i: fc.nat(3),
  }),
  entries: fc.array(fc.tuple(key, tie("value")), { maxLength: 3 }),
}));

const intrinsics = new Intrinsics();
class Point {
  x = 1;
  get size(): number {
    return 2;
  }
  isGood(): boolean {
    return false;
  }
}
/** Arguments that tests pass to a submission, built-in objects among them. */
const targets: readonly (() => unknown)[] = [
  () => ({}),
  () => ({ a: 1, b: [1, { c: 2 }] }),
  () => [],
  () => [[1], [{}]],
  () => new Map([[{}, { a: [] }]]),
  () => new Set([{}]),
  () => new Date(0),
  () => /a/g,
  () => new Uint8Array(2),
  () => new ArrayBuffer(2),
  () => Promise.resolve(1),
  () => new Point(),
  () => new TypeError("x"),
  () => Object.create(null),
  () => (function* () {})(),
  () => () => 1,
  () => [].values(),
  () => Object(1),
  () => new WeakMap(),
  () => Math,
  () => JSON,
  () => Reflect,
  () => ({ nested: Object.prototype }),
  () => [Array.prototype, Promise.prototype],
  () => new (class extends Array {})(),
  () => new (class extends Map {})(),
  () => new (class extends Promise<number> {})((give) => give(1)),
  () => Object.freeze({ a: 1 }),
  ...intrinsics.prototypes().map((prototype) => () => prototype),
];

/** Makes the tests' side, with a submission that answers with any text. */
function linked(callOther: CallOther): Link {
  return makeLink({
    letter: "t",
    encode,
    decode,
    update,
    callOther,
    describe: makeErrorDescriber(),
    onThrown: () => {},
  });
}

describe("plain data between the isolates", () => {
  test("arrives as it was sent", () => {
    fc.assert(
      fc.property(plain, (value) => expect(crossed(value)).toStrictEqual(value)),
      { numRuns: 500 },
    );
  });

  test("is made of built-in types and of nothing shared, whatever text has come", () => {
    const builtIn = [...intrinsics.prototypes(), null];
    fc.assert(
      fc.property(fc.array(forged, { minLength: 1, maxLength: 4 }), (json) => {
        let value: unknown;
        try {
          [value] = decode([[{ $: 0 }], JSON.parse(JSON.stringify(json)), 0], undefined, []).values;
        } catch (error) {
          return expect(error).toBeInstanceOf(Error);
        }
        if (typeof value === "object" && value !== null) expect(builtIn).toContain(Object.getPrototypeOf(value));
      }),
      { numRuns: 1000 },
    );
    expect(intrinsics.changes()).toEqual([]);
    expect(
      Object.keys(
        decode([[{ $: 0 }], [JSON.parse('{"$":"o","v":[["__proto__",{"$":1}]]}'), { polluted: 1 }], 0], undefined, [])
          .values[0] as object,
      ),
    ).toEqual(["__proto__"]);
  });

  test("changes its copy in place", () => {
    const target = { list: [1, { deep: 2 }], gone: 1, map: new Map([["a", [1]]]) };
    const [list, inner] = [target.list, target.list[1]];
    expect(update(target, { list, map: new Map([["a", [1, 2]]]), more: 1 })).toBe(true);
    expect(update(list, [0, inner, 4])).toBe(true);
    expect(target).toEqual({ list: [0, { deep: 2 }, 4], map: new Map([["a", [1, 2]]]), more: 1 });
    expect([target.list, target.list[1]]).toEqual([list, inner]);
    expect(update([], {})).toBe(false);
  });

  test("is refused where it is none", () => {
    for (const value of [Symbol("s"), () => 1]) expect(() => crossed(value)).toThrow(TypeError);
  });

  test("contains itself and shares parts as it did", () => {
    const circle: unknown[] = [{}];
    circle.push(circle, circle[0]);
    const now = crossed(circle) as unknown[];
    expect([now[1] === now, now[2] === now[0]]).toEqual([true, true]);
  });
});

test("S2: whatever a submission answers, the built-in objects of the tests' isolate keep their keys and values", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...targets),
      fc.array(forged, { minLength: 40, maxLength: 40 }),
      fc.constantFrom("ok", "raised", "threw"),
      (make, answers, kind) => {
        const target = make();
        const objects: object[] = [];
        const link = linked((_, argsText) => {
          decode(
            JSON.parse(argsText),
            { handleOf: () => "", functionAt: () => 1, promiseAt: () => 1, iteratorAt: () => 1 },
            objects,
          );
          return JSON.stringify({ [kind]: [answers.slice(0, 1), answers.slice(1, objects.length + 9), 0] });
        });
        const handler = (): void => {};
        try {
          const value = link.proxy(".f")(target, handler);
          if (value instanceof Promise) value.catch(() => {});
          link.settle(
            JSON.stringify({
              handle: "s1",
              outcome: { ok: [answers.slice(1, 2), answers.slice(2, objects.length + 9), 0] },
            }),
          );
        } catch {
          // This test does not check the answer itself.
        }
        expect(Object.getPrototypeOf(handler)).toBe(Function.prototype);
      },
    ),
    { numRuns: 250 },
  );
  expect(intrinsics.changes()).toEqual([]);
});

test("S2: an update leaves alone what is more than data: accessors, inherited names, frozen objects, parts of the language", () => {
  const called: string[] = [];
  const accessor = Object.defineProperty({}, "a", {
    set: () => {
      called.push("set");
    },
    enumerable: true,
    configurable: true,
  });
  expect(update(accessor, { a: 1 })).toBe(false);
  for (const prototype of intrinsics.prototypes())
    for (const contents of [{ polluted: 1 }, ["polluted"], new Map([["polluted", 1]]), new Set([1])])
      update(prototype, contents);
  for (const builtIn of [Math, JSON, Reflect, globalThis]) expect(update(builtIn, { polluted: 1 })).toBe(false);
  expect(update(Promise.resolve(1), JSON.parse('{"then":1}'))).toBe(false);
  const point = new Point();
  expect(update(point, { x: 2, y: 3, isGood: () => true, size: 9, constructor: 1 })).toBe(true);
  expect([point.x, point.size, point.isGood(), Object.keys(point)]).toEqual([2, 2, false, ["x", "y"]]);
  const target: Record<string, unknown> = {};
  update(target, JSON.parse('{"__proto__":{"polluted":1}}'));
  expect([Object.getPrototypeOf(target), Object.keys(target)]).toEqual([Object.prototype, ["__proto__"]]);
  const frozen = Object.freeze({ a: 1 });
  update(frozen, { a: 2, b: 3 });
  expect(frozen).toEqual({ a: 1 });
  expect([called, intrinsics.changes()]).toEqual([[], []]);
});

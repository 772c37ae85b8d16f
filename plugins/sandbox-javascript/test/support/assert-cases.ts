// A program: `node assert-cases.ts SEED PAIRS ERRORS` compares our `assert` with Node's and prints counts and differences. It runs outside
// of Jest, whose realm has other built-in classes than Node's own modules.
import nodeAssert from "node:assert";
import { inspect } from "node:util";
import fc from "fast-check";
import { makeAssert } from "../../src/isolate/assert.ts";
import { makeDeepEqual } from "../../src/isolate/deep-equal.ts";

type Assert = Record<string, (...args: unknown[]) => unknown>;

const ours = makeAssert({ inspect, format: String }, makeDeepEqual()) as unknown as Assert & { strict: Assert };
const theirs = nodeAssert as unknown as Assert & { strict: Assert };
const COMPARISONS = [
  "equal",
  "notEqual",
  "strictEqual",
  "notStrictEqual",
  "deepEqual",
  "notDeepEqual",
  "deepStrictEqual",
  "notDeepStrictEqual",
  "partialDeepStrictEqual",
  "match",
  "doesNotMatch",
];

class Point {
  x: unknown = 1;
}
class Other extends Point {}
class Failure extends RangeError {}

/** A small set of values, so that pairs are often equal, nearly equal, or equal by `==` only. */
const primitive = fc.constantFrom<unknown>(
  0,
  -0,
  1,
  2,
  "",
  "0",
  "1",
  "2",
  "a",
  true,
  false,
  null,
  undefined,
  Number.NaN,
  1n,
  2n,
  Symbol.iterator,
  "3",
);
/** Function that makes a value; called twice, so that the values of a pair share no part. */
type Plan = () => unknown;
const planOf =
  (value: unknown): Plan =>
  () =>
    value;
const { plan } = fc.letrec<{ plan: Plan; object: Plan }>((tie) => {
  const list = fc.array(tie("plan"), { maxLength: 3 });
  const entries = fc.array(fc.tuple(tie("plan"), tie("plan")), { maxLength: 3 });
  const record = fc.dictionary(fc.constantFrom("a", "b", "0", "constructor", "name", "message"), tie("plan"), {
    maxKeys: 3,
  });
  const filled = (make: () => object, properties: Record<string, Plan>): object => {
    const target = make();
    for (const [key, value] of Object.entries(properties))
      if (!ArrayBuffer.isView(target) || key !== "0")
        Reflect.defineProperty(target, key, { value: value(), enumerable: true, configurable: true, writable: true });
    return target;
  };
  const made = fc.constantFrom<() => object>(
    () => ({}),
    () => Object.create(null) as object,
    () => new Point(),
    () => new Other(),
    () => [],
    () => new Date(1),
    () => new Date(Number.NaN),
    () => /a/g,
    () => /a/,
    () => new Error("e"),
    () => new TypeError("e"),
    () => new Failure("e"),
    () => new Error("e", { cause: 1 }),
    () => new Error("", { cause: undefined }),
    () => new AggregateError([1], "e"),
    () => Object(1) as object,
    () => Object("1") as object,
    () => Object(1n) as object,
    () => new Uint8Array([1, 2]),
    () => new Uint8Array([1]),
    () => new Int8Array([1, 2]),
    () => new Float64Array([0, 1]),
    () => new Float64Array([-0, 1]),
    () => new Float32Array([Number.NaN]),
    () => new ArrayBuffer(2),
    () => new WeakMap(),
    () => new WeakSet(),
    () => Promise.resolve(),
    () => (function* () {})(),
    () => ({ [Symbol.toStringTag]: "T" }),
    () => ({ [Symbol.iterator]: 1 }),
    () => Object.create({ a: 1 }) as object,
    () => Object.defineProperty({}, "a", { value: 1 }),
    () => Object.defineProperty(new Error("e"), "name", { value: "N" }),
    () => new Set(),
    () => new Map(),
  );
  return {
    plan: fc.oneof({ maxDepth: 3 }, primitive.map(planOf), primitive.map(planOf), tie("object")),
    object: fc.oneof(
      list.map(
        (items): Plan =>
          () =>
            items.map((item) => item()),
      ),
      fc.sparseArray(tie("plan"), { maxLength: 3 }).map((items): Plan => () => {
        const copy: unknown[] = [];
        copy.length = items.length;
        for (const [index, item] of Object.entries(items)) copy[Number(index)] = item();
        return copy;
      }),
      list.map(
        (items): Plan =>
          () =>
            new Set(items.map((item) => item())),
      ),
      entries.map(
        (pairs): Plan =>
          () =>
            new Map(pairs.map(([key, value]) => [key(), value()])),
      ),
      record.map(
        (properties): Plan =>
          () =>
            filled(() => ({}), properties),
      ),
      fc.tuple(made, record).map(
        ([make, properties]): Plan =>
          () =>
            filled(make, properties),
      ),
      made.map((make): Plan => make),
    ),
  };
});

/** Pairs of values; every third pair from one plan. */
const pairs = fc
  .oneof(
    fc.tuple(plan, plan),
    fc.tuple(plan, plan),
    plan.map((one): [Plan, Plan] => [one, one]),
  )
  .map(([left, right]): [unknown, unknown] => [left(), right()]);

const expectation = fc.constantFrom<unknown>(
  undefined,
  null,
  "",
  "e",
  "text",
  Error,
  TypeError,
  RangeError,
  Failure,
  /e/,
  /x/,
  {},
  { name: "Error" },
  { message: "e" },
  { message: /e/, name: "TypeError" },
  { code: 1 },
  { cause: 1 },
  new Error("e"),
  new TypeError("e"),
  () => true,
  () => false,
  (error: unknown) => error instanceof Error,
  1,
  false,
  Point,
);
/** Arguments of `throws`: a thrown value, an expectation and a message. */
const throwing = fc.tuple(
  fc.oneof(
    plan.map((make) => make()),
    fc.constantFrom(
      new Error("e"),
      new TypeError("e"),
      new Failure("e"),
      Object.assign(new Error("x"), { code: 1 }),
      "e",
    ),
  ),
  fc.boolean(),
  fc.array(expectation, { maxLength: 2 }),
);

/** Returns `passed`, or the class and code of the error. */
function outcomeOf(run: () => unknown): string {
  try {
    run();
    return "passed";
  } catch (error) {
    return nameOf(error);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${String((error as { code?: unknown }).code)}` : "another value";
}

async function laterOutcome(run: () => unknown): Promise<string> {
  try {
    await run();
    return "passed";
  } catch (error) {
    return nameOf(error);
  }
}

/** Whether a list contains `null`: `deepEqual` of Node 24 accepts any item for an expected `null`. Ours does not, so that wrong answers fail. */
function hasNullItem(value: unknown, ancestors: readonly unknown[] = []): boolean {
  if (typeof value !== "object" || value === null || ancestors.includes(value)) return false;
  const parts = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : [];
  return (
    (Array.isArray(value) && value.includes(null)) ||
    [...parts, ...(Object.values(value) as unknown[])].some((part) => hasNullItem(part, [...ancestors, value]))
  );
}

/** Returns the names of comparisons on which Node's `assert` and ours differ. */
function differences([left, right]: readonly [unknown, unknown]): string[] {
  const all = COMPARISONS.flatMap((name) => [
    [name, ours, theirs] as const,
    [`strict ${name}`, ours.strict, theirs.strict] as const,
  ]);
  return all.flatMap(([name, our, their]) => {
    const method = name.replace("strict ", "");
    if (/^(?:not)?deepEqual$/i.test(name) && hasNullItem(right)) return [];
    const now = outcomeOf(() => our[method]?.(left, right));
    if (right instanceof RegExp) right.lastIndex = 0;
    const wanted = outcomeOf(() => their[method]?.(left, right));
    if (right instanceof RegExp) right.lastIndex = 0;
    // Node fails to make its message for an invalid pattern.
    const isAlike =
      now === wanted ||
      (method.toLowerCase().endsWith("match") && now.startsWith("TypeError") && wanted.startsWith("TypeError"));
    return isAlike ? [] : [`${name}(${inspect(left)}, ${inspect(right)}): ${now}, Node: ${wanted}`];
  });
}

async function throwingDifferences([thrown, isThrown, args]: readonly [unknown, boolean, readonly unknown[]]): Promise<
  string[]
> {
  const run = (): void => {
    if (isThrown) throw thrown;
  };
  const found: string[] = [];
  // Node's `doesNotThrow` and `doesNotReject` fail with a TypeError if `message` of the thrown value has no text.
  if (!hasText((thrown as { message?: unknown } | undefined | null)?.message)) return found;
  for (const name of ["throws", "doesNotThrow"]) {
    const [now, wanted] = [outcomeOf(() => ours[name]?.(run, ...args)), outcomeOf(() => theirs[name]?.(run, ...args))];
    if (now !== wanted) found.push(`${name}(${inspect(thrown)}, ${inspect(args)}): ${now}, Node: ${wanted}`);
  }
  for (const name of ["rejects", "doesNotReject"]) {
    const later = async (): Promise<void> => run();
    const [now, wanted] = [
      await laterOutcome(() => ours[name]?.(later, ...args)),
      await laterOutcome(() => theirs[name]?.(later, ...args)),
    ];
    if (now !== wanted) found.push(`${name}(${inspect(thrown)}, ${inspect(args)}): ${now}, Node: ${wanted}`);
  }
  return found;
}

function hasText(value: unknown): boolean {
  try {
    void `${value as string}`;
    return true;
  } catch {
    return false;
  }
}

/** Pairs that had different verdicts in an earlier version. */
const KNOWN: readonly (readonly [unknown, unknown])[] = [
  [new Set([{ a: 1 }, { a: 1 }]), new Set([{ a: 1 }, { a: 2 }])],
  [
    new Map([
      [{}, 1],
      [{}, 2],
    ]),
    new Map([
      [{}, 2],
      [{}, 2],
    ]),
  ],
  [new Set([1, "1", true]), new Set(["1", 1, 2])],
  [
    [[1], ["2"], [["3"]]],
    [1, 2, 3],
  ],
  [Object.assign(new Error("e"), { code: 1 }), new Error("e")],
  [Object.assign([], { length: 1 }), [undefined]],
  [{ a: undefined }, {}],
  [circle(), circle()],
  [circle(), [1, { list: [] }]],
];

function circle(): unknown[] {
  const list: unknown[] = [1];
  list.push({ list });
  return list;
}

const [seed = 1, numPairs = 100, numErrors = 100] = process.argv.slice(2).map(Number);
const found: string[] = KNOWN.flatMap(differences);
let failed = found.length;
const note = (more: readonly string[]): void => {
  if (more.length > 0) failed += 1;
  found.push(...more);
};
for (const pair of fc.sample(pairs, { seed, numRuns: numPairs })) note(differences(pair));
for (const thrown of fc.sample(throwing, { seed, numRuns: numErrors })) note(await throwingDifferences(thrown));
console.log(JSON.stringify({ cases: KNOWN.length + numPairs + numErrors, failed, found: found.slice(0, 20) }));

import { afterAll, describe, expect, test } from "@jest/globals";
import { makeSandbox } from "./support/make-sandbox.ts";
import { verdictsOf } from "./support/verdicts.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());
const verdicts = verdictsOf(sandbox);

/** Expects that each test passes. */
async function pass(code: string, tests: readonly string[], harness = ""): Promise<void> {
  const names = [...code.matchAll(/(?:function\*?|const) (\w+)/g)].map(([, name]) => name as string);
  expect(await verdicts(code, names, tests, harness)).toEqual(tests.map(() => "passed"));
}

describe("N2: promises as arguments", () => {
  test("of an asynchronous function, alone, twice, in containers, rejected", async () => {
    await pass(
      "async function f(p) { return (await p) + 1; } const all = async (list) => (await Promise.all(list)).map((x) => x * 2); const both = async (p, q) => p === q;",
      [
        "assert.equal(await f(Promise.resolve(1)), 2);",
        "const p = Promise.resolve(1); assert.deepEqual([await f(p), await f(p)], [2, 2]);",
        "assert.deepEqual(await all([Promise.resolve(1), 2, new Promise((give) => setTimeout(give, 5, 3))]), [2, 4, 6]);",
        "await assert.rejects(f(Promise.reject(new RangeError('no'))), RangeError);",
        "const p = Promise.resolve(1); assert.equal(await both(p, p), true);",
      ],
    );
  });

  test("a promise that is handed back is the same one", async () => {
    await pass("const same = (p) => p; const held = (p) => ({ p });", [
      "const p = Promise.resolve(1); assert.strictEqual(same(p), p); assert.strictEqual(held(p).p, p);",
    ]);
  });

  test("arguments that are changed before and after a wait", async () => {
    await pass("const f = async (list, p) => { list.push(1); await p; list.push(2); return list.length; };", [
      "const list = []; const result = f(list, new Promise((give) => setTimeout(give, 3))); assert.deepEqual(list, [1]); assert.equal(await result, 2); assert.deepEqual(list, [1, 2]);",
    ]);
  });
});

describe("U3: a question about a value has one answer", () => {
  // Each test passes only if the submission answers in two ways.
  test.each([
    [
      "a thenable",
      "let n = 0; const f = () => ({ then: (give) => give(++n) });",
      "const r = f(); assert.notEqual(await r, await r);",
    ],
    [
      "a thenable inside",
      "let n = 0; const f = () => [{ then: (give) => give(++n) }];",
      "const r = f(); assert.notDeepEqual(await Promise.all(r), await Promise.all(r));",
    ],
    [
      "a thenable that fails once",
      "let n = 0; const f = () => ({ then: (give, fail) => (n++ ? give(1) : fail(new RangeError())) });",
      "const r = f(); await assert.rejects(async () => await r, RangeError); assert.equal(await r, 1);",
    ],
    [
      "an instance that is a thenable",
      "let n = 0; class T { then = (give) => give(++n); } const f = () => new T();",
      "const r = f(); assert.notEqual(await r, await r);",
    ],
    [
      "a promise with its own then",
      "let n = 0; const f = () => Object.assign(Promise.resolve(1), { then: (give) => give(++n) });",
      "const r = f(); assert.notEqual(await r, await r);",
    ],
    [
      "an error that is a thenable",
      "let n = 0; const f = () => Object.assign(new Error('x'), { then: (give) => give(++n) });",
      "const r = f(); assert.notEqual(await r, await r);",
    ],
    [
      "a thrown error that is a thenable",
      "let n = 0; const f = () => { throw Object.assign(new Error('x'), { then: (give) => give(++n) }); };",
      "let r; try { f(); } catch (error) { r = error; } assert.notEqual(await r, await r);",
    ],
    [
      "an iterator that begins again",
      "const f = () => { let n = 0; return Object.assign(Object.create((function* () {})().__proto__.__proto__), { next: () => ({ done: ++n % 3 === 0, value: n }), [Symbol.iterator]() { return this; } }); };",
      "const r = f(); assert.notEqual([...r].length * [...r].length, 0);",
    ],
    [
      "an asynchronous iterator that begins again",
      "const f = () => { let n = 0; return Object.assign(Object.create((async function* () {})().__proto__.__proto__), { next: async () => ({ done: ++n % 3 === 0, value: n }) }); };",
      "const r = f(); let [a, b] = [0, 0]; for await (const x of r) a += x; for await (const x of r) b += x; assert.ok(a * b > 0);",
    ],
    [
      "a getter",
      "let n = 0; const f = () => ({ get a() { return ++n; } });",
      "const r = f(); assert.notEqual(r.a, r.a);",
    ],
    [
      "a proxy",
      "let n = 0; const f = () => new Proxy({ a: 1 }, { get: (_, key) => (key === 'a' ? ++n : undefined) });",
      "const r = f(); assert.notEqual(r.a, r.a);",
    ],
    [
      "a conversion",
      "let n = 0; const f = () => ({ valueOf: () => ++n, toString: () => String(++n), toJSON: () => ++n });",
      "const r = f(); assert.ok(r + 0 !== r + 0 || `${r}` !== `${r}` || JSON.stringify(r) !== JSON.stringify(r));",
    ],
    [
      "a conversion by symbol",
      "let n = 0; const f = () => ({ [Symbol.toPrimitive]: () => ++n });",
      "const r = f(); assert.ok(Number(r) > 0);",
    ],
    [
      "an iterable",
      "let n = 0; const f = () => ({ *[Symbol.iterator]() { yield ++n; } });",
      "const r = f(); assert.ok([...r].length > 0);",
    ],
    [
      "a list with an iterator of its own",
      "const f = () => Object.assign([1, 2], { *[Symbol.iterator]() { yield 3; } });",
      "const r = f(); assert.deepEqual([...r], [3]);",
    ],
    [
      "a length",
      "let n = 0; const f = () => new Proxy([1, 2], { get: (list, key) => (key === 'length' ? ++n % 3 : list[key]) });",
      "const r = f(); assert.notEqual(r.length, r.length);",
    ],
    [
      "the name of a function",
      "let n = 0; const f = () => Object.defineProperty(() => 1, 'name', { get: () => `${++n}` });",
      "const r = f(); assert.notEqual(r.name, r.name);",
    ],
    [
      "a function that is a number",
      "let n = 0; const f = () => Object.assign(() => 1, { valueOf: () => ++n, toString: () => `${++n}` });",
      "const r = f(); assert.ok(r > 0);",
    ],
    [
      "the message of an error",
      "let n = 0; class E extends Error { get message() { return `${++n}`; } } const f = () => new E();",
      "const r = f(); assert.notEqual(r.message, r.message);",
    ],
    [
      "a date",
      "let n = 0; class D extends Date { getTime() { return ++n; } valueOf() { return ++n; } } const f = () => new D();",
      "const r = f(); assert.notEqual(+r, +r);",
    ],
    [
      "a map",
      "let n = 0; class M extends Map { get() { return ++n; } get size() { return ++n; } } const f = () => new M([[1, 1]]);",
      "const r = f(); assert.ok(r.get(1) !== r.get(1) || r.size !== r.size);",
    ],
  ])("%s", async (_, code, check) => {
    expect(await verdicts(code, ["f"], [check])).toEqual([
      expect.stringMatching(/^(?:AssertionError: |RangeError: |TypeError: .*(?:iterable|failed)|Cannot convert)/),
    ]);
  });

  test("a thenable is awaited as a promise is, and an iterator ends once", async () => {
    await pass(
      "const f = (x) => ({ then: (give) => setTimeout(give, 1, x) }); const g = () => ({ then: (_, fail) => fail(new RangeError('no')) }); function* h() { yield 1; yield 2; } async function* k() { yield 1; }",
      [
        "const r = f(4); assert.equal(await r, 4); assert.equal(await r, 4);",
        "const r = f([1]); assert.deepEqual(await Promise.all([r, r]), [[1], [1]]);",
        "await assert.rejects(async () => await g(), RangeError);",
        "const r = h(); assert.deepEqual([[...r], [...r], r.next()], [[1, 2], [], { done: true, value: undefined }]);",
        "const r = k(); const items = []; for await (const x of r) items.push(x); assert.deepEqual([items, await r.next()], [[1], { done: true, value: undefined }]);",
      ],
    );
  });
});

test("U3: a function under the key `then` is a method like any other where it gets no function", async () => {
  await pass(
    "const f = () => ({ when: (x) => x > 1, then: (x, y = 1) => x * 2 + y }); let n = 0; const g = () => Object.assign(new Error('x'), { then: () => ++n });",
    [
      "const r = f(); assert.ok(r.when(2)); assert.equal(r.then(4), 9); assert.equal(r.then(5, 2), 12);",
      "const r = g(); assert.equal(r.then(), 1); assert.equal(r.then(), 2);",
    ],
  );
});

test("U3: an iterator continues after a loop or a destructuring that was left, as its kind does", async () => {
  await pass(
    "const f = () => [1, 2, 3].values(); const m = () => new Map([[1, 2], [3, 4]]).entries(); const s = () => 'abc'[Symbol.iterator](); const w = () => { let n = 0; return Iterator.from({ next: () => ({ done: ++n > 3, value: n }) }); }; function* g() { yield 1; yield 2; }",
    [
      "const it = f(); const [a] = it; assert.equal(a, 1); assert.deepEqual([...it], [2, 3]); assert.deepEqual([...it], []);",
      "const it = f(); for (const x of it) break; assert.deepEqual(it.next(), { done: false, value: 2 });",
      "const it = m(); for (const x of it) break; assert.deepEqual([...it], [[3, 4]]);",
      "const it = s(); const [a, b] = it; assert.deepEqual([...it], ['c']);",
      "const it = w(); for (const x of it) break; assert.deepEqual([...it], [2, 3]);",
      "const it = g(); const [a] = it; assert.deepEqual([...it], []);",
    ],
  );
});

describe("N3: top-level code that waits", () => {
  test.each([
    "await new Promise((r) => setTimeout(r, 5)); export const f = () => 1;",
    "await new Promise((r) => setImmediate(r)); const f = () => 1;",
    "await null; await new Promise((r) => setTimeout(r, 1)); await new Promise((r) => setTimeout(r, 1)); export function f() { return 1; }",
  ])("%s", async (code) => {
    expect(await verdicts(code, ["f"], ["assert.equal(f(), 1);"])).toEqual(["passed"]);
  });

  test("a wait without an end is the submission's error", async () => {
    const report = await sandbox.test(
      { code: "await new Promise(() => {}); export const f = () => 1;" },
      { entryPoints: ["f"], tests: [{ name: "t", code: "f()" }] },
    );
    expect(report).toMatchObject({ verdict: "error", error: { message: expect.stringContaining("never settles") } });
  });
});

describe("N7: values keep what they have", () => {
  test("records, arrays, maps and sets 2,000 deep, both ways", async () => {
    const harness =
      "const nest = (wrap) => { let value = 1; for (let i = 0; i < 1999; i++) value = wrap(value); return value; }; const depth = (value, open) => { let n = 0; for (; typeof value === 'object'; value = open(value)) n++; return n; };";
    const code = "const same = (x) => ({ x }).x; const change = (x) => { x.a.b = 1; return x; };";
    await pass(
      code,
      [
        "assert.equal(depth(same(nest((value) => ({ value }))), (x) => x.value), 1999);",
        "assert.equal(depth(same(nest((value) => [value])), (x) => x[0]), 1999);",
        "assert.equal(depth(same(nest((value) => new Map([[1, value]]))), (x) => x.get(1)), 1999);",
        "assert.equal(depth(same(nest((value) => new Set([value]))), (x) => [...x][0]), 1999);",
        "const deep = nest((a) => ({ a })); assert.equal(depth(change(deep), (x) => x.a), 1999); assert.equal(deep.a.b, 1);",
        "assert.deepStrictEqual(structuredClone(nest((value) => [value])), nest((value) => [value]));",
      ],
      harness + " const structuredClone = same;",
    );
  });

  test("a returned argument is the same object, whole or in part, changed or not", async () => {
    await pass(
      "const f = (x) => x; const sort = (x) => x.sort(); const parts = ({ a, b }) => ({ b, a, c: [a, a] }); const late = async (x) => { await null; x.done = true; return x; }; const swap = (x) => { x.reverse(); }; const thrown = (x) => { throw x; };",
      [
        "for (const x of [{}, [], new Map(), new Date(), /a/, new Error(''), new Uint8Array(1), Object.create(null)]) assert.strictEqual(f(x), x);",
        "const x = [2, 1]; assert.strictEqual(sort(x), x); assert.deepEqual(x, [1, 2]);",
        "const a = {}, b = []; const r = parts({ a, b }); assert(r.a === a && r.b === b && r.c[0] === r.c[1]);",
        "const x = {}; assert.strictEqual(await late(x), x); assert.equal(x.done, true);",
        "const a = { n: 1 }, b = { n: 2 }, x = [a, b]; swap(x); assert(x[0] === b && x[1] === a);",
        "const x = {}; try { thrown(x); assert.fail(); } catch (error) { assert.strictEqual(error, x); }",
      ],
    );
  });

  test("attributes of errors that are raised", async () => {
    const code = `var NotFound = class extends RangeError { constructor(key) { super("no " + key, { cause: { key } }); this.name = "NotFound"; this.code = "E_KEY"; this.details = { key, tried: [1, 2] }; } };
      const f = (x) => { throw new NotFound(x); }; const g = async (x) => { throw Object.assign(new TypeError("t"), { status: x }); }; const h = (x) => { throw x; }; const i = () => { throw new AggregateError([new Error("a")], "all"); };`;
    await pass(code, [
      'assert.throws(() => f("a"), { name: "NotFound", message: "no a", code: "E_KEY", details: { key: "a", tried: [1, 2] } });',
      'try { f("a"); assert.fail(); } catch (error) { assert(error instanceof RangeError); assert.deepEqual(error.cause, { key: "a" }); }',
      'await assert.rejects(g(404), { name: "TypeError", status: 404 });',
      'for (const x of [1, "text", null, undefined, { a: 1 }]) { try { h(x); assert.fail("nothing"); } catch (error) { assert.deepStrictEqual(error, x); } }',
      'try { i(); assert.fail(); } catch (error) { assert(error instanceof AggregateError); assert.equal(error.errors[0].message, "a"); }',
    ]);
  });

  test("name and number of parameters of a function", async () => {
    await pass(
      "const curry = (g) => { const more = (...a) => (a.length >= g.length ? g(...a) : (...b) => more(...a, ...b)); return more; }; const add = () => function plus(a, b) {}; const odd = () => class { static name = {}; static length = 5n; };",
      [
        "assert.equal(curry((a, b, c) => a + b + c)(1)(2)(3), 6);",
        "assert.equal(add().name, 'plus'); assert.equal(add().length, 2); assert.equal(typeof odd(), 'function');",
      ],
    );
  });

  test("cycles, holes, null prototypes, matches, boxes, buffers, iterators", async () => {
    await pass(
      "const f = (x) => x(); const cycle = () => { const a = { list: [] }; a.list.push(a); return a; }; const match = (s) => s.match(/(?<first>.)b/); const groups = (l) => Object.groupBy(l, (x) => (x % 2 ? 'odd' : 'even')); const holes = () => [, 1]; const lazy = () => [1, 2, 3].values().map((x) => x * 2); async function* stream() { yield 1; yield 2; } function* two() { const x = yield 1; yield x; } const box = () => new String('x'); const bytes = () => new Uint8Array([1]).buffer;",
      [
        "const a = cycle(); assert.strictEqual(a.list[0], a);",
        'const m = match("ab"); assert.equal(m.index, 0); assert.equal(m.groups.first, "a"); assert.equal(m[0], "ab");',
        "assert.deepStrictEqual(groups([1, 2]), Object.assign(Object.create(null), { odd: [1], even: [2] }));",
        "assert(!(0 in holes()) && holes().length === 2);",
        "assert.deepEqual([...lazy()], [2, 4, 6]); assert.deepEqual(lazy().take(1).toArray(), [2]);",
        "const all = []; for await (const x of stream()) all.push(x); assert.deepEqual(all, [1, 2]);",
        'const g = two(); g.next(); assert.deepEqual(g.next("x"), { value: "x", done: false }); assert.deepEqual(g.return(5), { value: 5, done: true });',
        "assert.deepStrictEqual(box(), new String('x')); assert.deepStrictEqual(bytes(), new Uint8Array([1]).buffer);",
      ],
    );
  });
});

test("S9: conversions of a result are made once; functions under names of every object do not cross", async () => {
  await pass(
    "let n = 0; const f = () => ({ toString: () => `n${++n}`, valueOf: () => ++n, toJSON: () => [++n], hasOwnProperty: () => true, own: () => 1 });",
    [
      "const r = f(); assert.equal(String(r), String(r)); assert.equal(r + 0, r + 0); assert.equal(JSON.stringify(r), JSON.stringify(r)); assert.equal(r.own(), 1);",
      'const r = f(); assert.equal(r.hasOwnProperty("x"), false);',
    ],
  );
});

import fc from "fast-check";

/** Submission that defines `f`, with tests. */
export interface GeneratedProgram {
  readonly code: string;
  readonly tests: readonly string[];
}

const leaf = fc.constantFrom(
  "0",
  "-0",
  "1",
  "NaN",
  "Infinity",
  "''",
  "'a'",
  "'é😀'",
  "true",
  "null",
  "undefined",
  "12n",
  "new Date(5)",
  "new Date(NaN)",
  "/a+/gi",
  "new Uint8Array([1, 2])",
  "new Float64Array([0.5, -0])",
  "new BigInt64Array([1n])",
  "new ArrayBuffer(2)",
  "new Error('e')",
  "new RangeError('r', { cause: 1 })",
  "Object.assign(new TypeError('t'), { code: 'E' })",
  "new AggregateError([1], 'all')",
  "Object(1)",
  "Object('s')",
  "Object.create(null)",
  "[,1]",
  "'ab'.match(/(?<x>a)/)",
  "[...'a1b2'.matchAll(/\\d/g)]",
  "Object.groupBy([1, 2, 3], (x) => x % 2)",
  "new (class extends RangeError { constructor() { super('own'); this.name = 'Own'; this.status = 4; } })()",
  "structuredClone({ a: [1] })",
  "JSON.parse('{\"__proto__\": 1}')",
  "Object.freeze([1])",
  "new URLSearchParams('a=1').toString()",
  "[1, 2, 3].toSpliced(1, 1)",
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(fc.constantFrom("a", "b", "$", "1", "'x y'"), tie("value")), { maxLength: 3 })
        .map((entries) => `({ ${entries.map(([key, item]) => `${key}: ${item}`).join(", ")} })`),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(tie("value"), tie("value")), { maxLength: 2 })
        .map((entries) => `new Map([${entries.map((pair) => `[${pair.join(", ")}]`).join(", ")}])`),
    },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }).map((items) => `new Set([${items.join(", ")}])`) },
  ),
}));

/** Pairs of code: how a function returns a value, and how a test reads it into `r`. */
const DELIVERIES: readonly (readonly [code: (text: string) => string, take: string])[] = [
  [(v) => `const f = () => ${v};`, "const r = f();"],
  [(v) => `async function f() { return ${v}; }`, "const r = await f();"],
  [(v) => `const f = () => new Promise((give) => setTimeout(() => give(${v}), 1));`, "const r = await f();"],
  [(v) => `function* f() { yield ${v}; yield 2; return 3; }`, "const [r, second] = f(); assert.equal(second, 2);"],
  [
    (v) => `function* f() { const got = yield 1; yield [got, ${v}]; }`,
    "const g = f(); g.next(); const r = g.next('sent').value;",
  ],
  [(v) => `async function* f() { yield 1; await null; yield ${v}; }`, "let r; for await (const item of f()) r = item;"],
  [
    (v) => `const f = () => { throw ${v}; };`,
    "let r; try { f(); assert.fail('nothing'); } catch (error) { r = error; }",
  ],
  [
    (v) => `const f = async () => { await null; throw ${v}; };`,
    "let r; try { await f(); } catch (error) { r = error; }",
  ],
  [(v) => `const f = () => [${v}, 1].values();`, "const r = f().next().value;"],
  [(v) => `const f = () => new Map([[1, ${v}]]).entries();`, "const [[, r]] = f();"],
  [(v) => `const f = () => [1, 2].values().map((x) => [x, ${v}]);`, "const r = f().drop(1).toArray();"],
  [(v) => `const f = () => () => ${v};`, "const r = f()();"],
  [
    (v) => `const f = (x) => { x.list.push(${v}); x.map.set('k', ${v}); delete x.gone; };`,
    "const x = { list: [0], map: new Map(), gone: 1 }; f(x); const r = [x.list[1], x.map.get('k')]; assert.deepStrictEqual(Object.keys(x), ['list', 'map']);",
  ],
  [(v) => `const f = (g) => g(${v});`, "let r; f((given) => { r = given; });"],
  [(v) => `const f = async (g) => [await g(${v})];`, "const r = await f(async (given) => given);"],
  [
    (v) => `const f = (x) => ({ x, y: ${v} });`,
    "const x = { a: 1 }; const got = f(x); assert.strictEqual(got.x, x); const r = got.y;",
  ],
  [(v) => `const f = (p) => p.then((x) => [x, ${v}]);`, "const r = await f(Promise.resolve('p'));"],
  [(v) => `class Box { constructor(v) { this.v = v; } }\nconst f = () => new Box(${v});`, "const { v: r } = f();"],
  [
    (v) => `const f = () => { const v = ${v}; return [v, v]; };`,
    "const got = f(); assert(typeof got[0] !== 'object' || got[0] === got[1]); const r = got[0];",
  ],
  [(v) => `await new Promise((give) => setTimeout(give, 1));\nconst f = () => ${v};`, "const r = f();"],
];
/** Expressions of tests over `r` and a value of the test. */
const QUESTIONS: readonly ((text: string) => string)[] = [
  ...[
    "deepEqual",
    "deepStrictEqual",
    "notDeepEqual",
    "notDeepStrictEqual",
    "partialDeepStrictEqual",
    "equal",
    "strictEqual",
  ].map((method) => (v: string) => `assert.${method}(r, ${v});`),
  (v) => `assert.equal(typeof r, typeof ${v});`,
  (v) => `assert.equal(Object.prototype.toString.call(r), Object.prototype.toString.call(${v}));`,
  (v) => `assert.equal(JSON.stringify(r), JSON.stringify(${v}));`,
  (v) =>
    `assert.deepStrictEqual(Reflect.ownKeys(Object(r)).filter((key) => key !== 'stack'), Reflect.ownKeys(Object(${v})).filter((key) => key !== 'stack'));`,
  (v) => `assert.throws(() => { throw r; }, ${v});`,
  (v) => `assert.equal(String(r), String(${v}));`,
  () => "assert(r instanceof Error && r instanceof RangeError);",
];

const program = fc
  .tuple(
    fc.constantFrom(...DELIVERIES),
    value,
    value,
    fc.array(fc.tuple(fc.constantFrom(...QUESTIONS), fc.boolean()), { minLength: 4, maxLength: 4 }),
  )
  .map(([[code, take], own, other, questions]): GeneratedProgram => ({
    code: code(own),
    tests: questions.map(([question, isOwn]) => `${take} ${question(isOwn ? own : other)}`),
  }));

export function generatePrograms(seed: number, count: number): GeneratedProgram[] {
  return fc.sample(program, { seed, numRuns: count });
}

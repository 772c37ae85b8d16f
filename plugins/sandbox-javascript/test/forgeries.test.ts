import { afterAll, describe, expect, test } from "@jest/globals";
import { readCorpora } from "@mrlm/testing";
import { makeSandbox } from "./support/make-sandbox.ts";

const [corpus] = readCorpora(new URL("forgeries/", import.meta.url));
const programs = corpus?.programs ?? [];

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

/** Checks all built-in objects; `attempt` calls the submission and uses the result as tests do. */
const HARNESS = `
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const objects = new Set();
  const collect = (object) => {
    if ((typeof object !== "object" && typeof object !== "function") || object === null || object === globalThis || objects.has(object)) return;
    objects.add(object);
    collect(getPrototypeOf(object));
    for (const key of ownKeys(object)) { const { value, get, set } = getOwnPropertyDescriptor(object, key); [value, get, set].forEach(collect); }
  };
  for (const value of [Object, Array, Function, Promise, Map, Set, WeakMap, Date, RegExp, Error, TypeError, RangeError, AggregateError, Symbol, Math, JSON, Reflect, Uint8Array, DataView, assert, console,
    function* () {}, async function* () {}, async () => {}, [].values(), new Map().keys(), new Set().keys(), "".matchAll(/a/g)]) collect(value);
  const valueOf = (object) => ownKeys(object).map((key) => [key, getOwnPropertyDescriptor(object, key)]);
  const isLast = (object, key) => object === RegExp && typeof key === "string" && !/^[a-z]/.test(key) ;
  const before = new Map([...objects].map((object) => [object, valueOf(object)]));
  const { is } = Object;
  const isPolluted = () => [...before].some(([object, entries]) => ownKeys(object).length !== entries.length || entries.some(([key, { value, get, set }]) => {
    const now = getOwnPropertyDescriptor(object, key);
    return !now || now.get !== get || now.set !== set || (!is(now.value, value) && typeof value === "function");
  }));
  const soon = (value) => Promise.race([value, new Promise((give) => setTimeout(give, 3))]);
  const uses = [
    (r) => soon(r), (r) => String(r), (r) => r + 1, (r) => r == 1, (r) => JSON.stringify(r), (r) => { let n = 0; for (const i of r) if (n++ > 5) break; }, (r) => Object.keys(r), (r) => assert.deepEqual(r, {}), (r) => structuredClone?.(r),
    (r) => r.next(), (r) => r.then((x) => x), (r) => Object.assign({}, r), (r) => [].concat(r), (r) => r.map((x) => x), (r) => r instanceof Array, (r) => "a".match(r), (r) => r(), (r) => r.toString(), (r) => [...r.entries()], (r) => console.log(r), (r) => assert.throws(() => { throw r; }, r),
  ];
  const attempt = async (argument) => {
    const results = [];
    try { results.push(f(argument)); } catch (error) { results.push(error); }
    try { results.push(await soon(results[0])); } catch (error) { results.push(error); }
    try { results.push(argument, ...results[0]); } catch {}
    for (const result of results) for (const use of uses) { try { const used = use(result); if (use === uses[0]) await used; } catch {} }
    await soon();
    if (!isPolluted()) assert.fail("the tests' isolate is as it was");
  };
  class Point { x = 1; isGood() { return false; } }`;

/** Tests that no submission of the corpus can pass honestly. */
const QUESTIONS = [
  "const r = f([3, 1, 2]); assert(r.length === 3 && r[0] <= r[1] && r[1] <= r[2] && r[0] * r[1] * r[2] === 6 && r[0] + r[1] + r[2] === 6);",
  'const r = f({ a: 1 }); assert(r.hasOwnProperty("b") && !r.hasOwnProperty("a") && r.b === 1);',
  "const p = new Point(); f(p); assert(p.isGood());",
  'assert.deepStrictEqual(f([]), { honest: "work" });',
  "assert.throws(() => f(0), { name: 'RangeError', message: 'of the tests', code: 'E_TESTS' });",
  "assert.deepEqual(await f({}), [1, 2]);",
  "assert.deepEqual(f([]), [null, null]);",
  'const r = f({}); assert(["a", "b", "c"].every((key) => r.hasOwnProperty(key)));',
  "const it = [1, 2, 3].values(); f(it); assert.deepEqual(Reflect.ownKeys(it), ['next']);",
];
const ARGUMENTS = [
  "{}",
  "{ a: { b: 1 } }",
  "[[1], { a: 1 }]",
  "new Map([[{}, {}]])",
  "new Set([{}])",
  "Promise.resolve({})",
  "(x) => x",
  "new Point()",
  "new Error('x')",
  "Object.prototype",
  "[Promise.prototype, Array.prototype]",
];

describe("S2: forgeries through what a submission returns, throws, changes and calls", () => {
  test("there are at least 35", () => {
    expect(programs.length).toBeGreaterThanOrEqual(35);
  });

  test("none passes a test, and each has a verdict", async () => {
    const tests = [...ARGUMENTS.map((argument) => `await attempt(${argument});`), ...QUESTIONS].map((code, index) => ({
      name: `${index}`,
      code,
    }));
    const waiting = [...programs];
    const passed: string[] = [];
    const work = async (): Promise<void> => {
      for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
        const report = await sandbox.test(
          { code: program.code, limits: { wallMs: 5000 } },
          { entryPoints: ["f"], harness: HARNESS, tests },
        );
        for (const { name, verdict } of report.tests)
          if (verdict === "passed") passed.push(`${program.name}: ${tests[Number(name)]?.code}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(passed).toEqual([]);
  }, 240_000);

  test("a submission that does what they ask passes", async () => {
    const code = "const f = (o) => (Array.isArray(o) && o.length === 3 ? o.toSorted() : { b: 1 });";
    const report = await sandbox.test(
      { code },
      {
        entryPoints: ["f"],
        harness: HARNESS,
        tests: QUESTIONS.slice(0, 2).map((test, index) => ({ name: `${index}`, code: test })),
      },
    );
    expect(report.tests.map(({ verdict }) => verdict)).toEqual(["passed", "passed"]);
  });

  test("S3: an answer that is too long once it is written in bytes is a verdict", async () => {
    const code =
      'const message = "\u20ac".repeat(23e6); Object.prototype.toJSON = () => ({ name: "E", message, trace: "" }); throw new Error("x");';
    expect((await sandbox.run({ code })).verdict).toBe("killed");
    expect((await sandbox.run({ code: "console.log(1)" })).stdout).toBe("1\n");
  });
});

import { afterAll, describe, expect, test } from "@jest/globals";
import { makeSandbox } from "./support/make-sandbox.ts";
import { verdictsOf } from "./support/verdicts.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());
const printed = async (code: string): Promise<string> => {
  const { stdout, error } = await sandbox.run({ code });
  return error?.message ?? stdout;
};

describe("N1: values that Node's way to show them needs URL for", () => {
  test.each([
    ["new (class Point { x = 1; })()", "Point { x: 1 }"],
    ["new (class Point {})()", "Point {}"],
    ["Object.create(null)", "[Object: null prototype] {}"],
    ["Object.groupBy([1, 2], (x) => (x % 2 ? 'odd' : 'even'))", "[Object: null prototype] { odd: [ 1 ], even: [ 2 ] }"],
    ["'ab'.match(/(?<first>a)/).groups", "[Object: null prototype] { first: 'a' }"],
    ["new Map([[{ a: 1 }, new Set([1])]])", "Map(1) { { a: 1 } => Set(1) { 1 } }"],
    ["[class A {}, Symbol('s'), 1n, new Date(0), /x/]", "[ [class A], Symbol(s), 1n, 1970-01-01T00:00:00.000Z, /x/ ]"],
  ])("%s", async (value, shown) => {
    expect(await printed(`const value = ${value}; console.log(value);`)).toBe(`${shown}\n`);
  });

  test("in messages of failed tests", async () => {
    const verdicts = verdictsOf(sandbox);
    expect(
      await verdicts(
        "const f = () => Object.create(null);",
        ["f"],
        ["assert.deepEqual(f(), new (class Point { x = 1; })());"],
      ),
    ).toEqual([expect.stringContaining("Point { x: 1 }")]);
  });
});

describe("N7: modules and globals that plain programs use", () => {
  /** Compares the value of each expression with that under Node. */
  const sameAsHere = async (prologue: string, expressions: readonly string[]): Promise<void> => {
    const code = `${prologue}\nconst attempt = (run) => { try { return run(); } catch (error) { return [error.name, error.code]; } };\nconsole.log(JSON.stringify([${expressions.map((text) => `attempt(() => ${text})`).join(", ")}]));`;
    const here = await new Promise<string>((resolve, reject) => {
      void import("node:child_process").then(({ execFile }) =>
        execFile(process.execPath, ["-e", code], (error, stdout) => (error === null ? resolve(stdout) : reject(error))),
      );
    });
    expect(JSON.parse(await printed(code))).toEqual(JSON.parse(here));
  };

  test("URL and URLSearchParams", async () => {
    await sameAsHere(
      "const u = () => new URL('https://user:pw@Ex%41mple.org:8080/a/../b c?x=1&y=%20z#h');",
      [
        "u().href",
        "u().host",
        "u().pathname",
        "u().origin",
        "String(u())",
        "JSON.stringify({ u: u() })",
        "new URL('../x?q', 'http://a/b/c/d').href",
        "new URL('nonsense')",
        "URL.canParse('x:')",
        "URL.canParse('x')",
        "URL.parse('::')",
        "{ const v = u(); v.port = '9'; v.pathname = 'ü'; v.hash = ''; v.searchParams.append('k', 'a b&ü'); return [v.href, v.search]; }",
        "{ const v = u(); const q = v.searchParams; v.search = '?n=1'; return [...q]; }",
        "new URL('http://münchen.de/').hostname",
        "new URL('http://[::1]/').host",
        "{ const v = u(); v.href = 'x'; return v; }",
        "new URLSearchParams('a=1&b=%zz&c=%E4%BD&a=2+3').toString()",
        "[...new URLSearchParams({ a: 1, b: '~!*()' })]",
        "new URLSearchParams([['b', '1'], ['a', '2']]).toString()",
        "{ const q = new URLSearchParams('b=1&a=2&b=3'); q.sort(); q.set('b', 9); q.delete('a'); return [q.size, q.get('b'), q.getAll('b'), q.has('a'), q.get('zz'), String(q)]; }",
        "new URLSearchParams([['a']])",
        "new URLSearchParams('?a=ü&=x&y').toString()",
      ].map((text) => (text.startsWith("{") ? `(() => ${text})()` : text)),
    );
  });

  test("TextEncoder, TextDecoder, atob, btoa, structuredClone", async () => {
    const bytes =
      "[[0x61, 0xff, 0x62], [0xe2, 0x82, 0xac], [0xe2, 0x82], [0xf0, 0x9f, 0x98, 0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf, 0x61], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x28, 0xa1], [0xf0, 0x9f, 0x41]]";
    await sameAsHere(
      `const all = ${bytes};`,
      [
        "['', 'aé€😀', '\\ud800x'].map((text) => [...new TextEncoder().encode(text)])",
        "all.map((list) => new TextDecoder().decode(new Uint8Array(list)))",
        "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))",
        "new TextDecoder('none')",
        "new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0, 0x3d, 0xd8, 0, 0xde]))",
        "(() => { const d = new TextDecoder(); return [0xf0, 0x9f, 0x98, 0x80].map((byte) => d.decode(new Uint8Array([byte]), { stream: true })); })()",
        "new TextEncoder().encodeInto('a€b', new Uint8Array(4))",
        "['', 'a', 'ab', 'abc', 'ÿ\\0'].map(btoa)",
        "['', 'YQ==', 'YWI', ' Y W J j '].map(atob)",
        "atob('Y')[0]",
        "btoa('€')[0]",
        "structuredClone({ a: [1, new Date(5)], m: [...new Map([[1, { b: 2 }]])] })",
        "(() => { const a = []; const c = structuredClone({ a, b: a }); return c.a === c.b; })()",
      ].map((text) =>
        /btoa\('€'|atob\('Y'/.test(text)
          ? `(() => { try { return ${text}; } catch (error) { return error.name; } })()`
          : text,
      ),
    );
  });

  test("events and util", async () => {
    await sameAsHere(
      "const EventEmitter = require('node:events'); const { promisify, inherits, inspect, types } = require('util'); const log = [];",
      [
        "(() => { const e = new EventEmitter(); e.on('a', (x) => log.push(x)); e.once('a', (x) => log.push(-x)); e.prependListener('a', () => log.push('first')); return [e.emit('a', 1), e.emit('a', 2), e.emit('b'), e.listenerCount('a'), e.eventNames(), log]; })()",
        "new EventEmitter().emit('error', new RangeError('x'))",
        "new EventEmitter().emit('error', 1)",
        "new EventEmitter().on('a', 1)",
        "(() => { class A extends EventEmitter {} const f = () => {}; const a = new A().on('x', f).on('x', f).off('x', f); return [a.listeners('x').length, a instanceof EventEmitter.EventEmitter]; })()",
        "(() => { function A() {} function B() {} inherits(A, B); return new A() instanceof B; })()",
        "types.isDate(new Date())",
        "typeof promisify((done) => done(null, 1))().then",
        "inspect({ a: 1 })",
      ],
    );
  });

  test("imports of them", async () => {
    expect(
      await printed(
        "import { EventEmitter, once } from 'node:events'; import { URL } from 'node:url'; const e = new EventEmitter(); setTimeout(() => e.emit('x', 1), 1); console.log(await once(e, 'x'), new URL('a:b').protocol);",
      ),
    ).toBe("[ 1 ] a:\n");
  });
});

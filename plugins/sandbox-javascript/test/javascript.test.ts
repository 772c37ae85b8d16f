import { afterAll, describe, expect, test } from "@jest/globals";
import { makeSandbox } from "./support/make-sandbox.ts";
import { verdictsOf } from "./support/verdicts.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

const call = async (code: string, name: string, ...args: never[]): Promise<unknown> => {
  const { value, error } = await sandbox.run({ code, call: { name, arguments: args } });
  return error === undefined ? value : error;
};

const verdicts = verdictsOf(sandbox);

describe("what is read", () => {
  test("TypeScript is found out, and keeps its lines", async () => {
    expect(await call("type N = number;\nconst twice = (x: N): N => x * 2;", "twice", 21 as never)).toBe(42);
    expect(
      await call("interface A { x: number }\n\nfunction f(): A {\n  throw new RangeError('no');\n}", "f"),
    ).toMatchObject({ name: "RangeError", line: 4 });
  });

  test("enums and parameter properties become code, and errors keep their lines", async () => {
    const code =
      "enum Kind { A = 5 }\n\n\nclass Box { constructor(private readonly kind: Kind) {} get() { return this.kind; } }\nfunction f() {\n  if (new Box(Kind.A).get() === 5) throw new Error('five');\n}";
    expect(await call(code, "f")).toMatchObject({ message: "five", line: 6 });
  });

  test("what files begin with: a byte order mark, the name of an interpreter; and lines that end as on Windows", async () => {
    for (const start of ["\ufeff", "#!/usr/bin/env node\r\n", "\ufeff#!/usr/bin/env -S node\n"])
      for (const dialect of ["javascript", "typescript"])
        expect(await sandbox.run({ code: `${start}const n = 2;\r\nconsole.log("é", n);\r\n`, dialect })).toMatchObject({
          verdict: "ok",
          stdout: "é 2\n",
        });
  });

  test("a dialect that is named is taken", async () => {
    const code = "const f = <T>(x: T) => x; const g = () => f<number>(3);";
    expect((await sandbox.run({ code, dialect: "typescript", call: { name: "g", arguments: [] } })).value).toBe(3);
  });

  test("ES modules export, await, and import files and the small built-ins", async () => {
    const code =
      'import { double } from "./lib.ts";\nimport { readFileSync } from "node:fs";\nconst n = await Promise.resolve(Number(readFileSync(0, "utf8")));\nexport function f() { return double(n); }';
    const files = { "lib.ts": "export const double = (x: number): number => 2 * x;" };
    expect((await sandbox.run({ code, files, stdin: "4", call: { name: "f", arguments: [] } })).value).toBe(8);
  });

  test("module.exports is looked through", async () => {
    expect(await call("module.exports = { f: () => 1 };", "f")).toBe(1);
    expect(await call("module.exports = function () { return 2; };", "f")).toBe(2);
  });
});

describe("what runs", () => {
  test("promises and timers, up to the last", async () => {
    expect(
      (await sandbox.run({ code: "setTimeout(() => console.log('b'), 20); setTimeout(() => console.log('a'), 5);" }))
        .stdout,
    ).toBe("a\nb\n");
    expect(
      await call("const f = async () => { await new Promise((r) => setTimeout(r, 5)); return 'done'; }", "f"),
    ).toBe("done");
  });

  test("more callbacks than there are timers to guard them, of which the last never ends", async () => {
    const code =
      "let n = 0; (function again() { if (++n === 5000) { console.log(n); for (;;); } setImmediate(again); })();";
    expect(await sandbox.run({ code, limits: { wallMs: 1500 } })).toMatchObject({
      verdict: "timeout",
      stdout: "5000\n",
    });
  });

  test("N7: listeners of standard input and of lines: once, removed, readable, before the end", async () => {
    const printed = async (code: string, stdin = "2\na\nb\n"): Promise<string> =>
      (await sandbox.run({ code, stdin })).stdout;
    const lines = 'const rl = require("node:readline").createInterface({ input: process.stdin });';
    expect(
      await printed(
        `${lines} rl.once("line", (n) => { console.log("n", n); rl.on("line", (l) => console.log("l", l)); }); rl.on("close", () => console.log("end"));`,
      ),
    ).toBe("n 2\nl a\nl b\nend\n");
    expect(
      await printed(
        `${lines} const first = (n) => { console.log("n", n); rl.off("line", first).on("line", (l) => console.log("l", l)); }; rl.on("line", first);`,
      ),
    ).toBe("n 2\nl a\nl b\n");
    expect(
      await printed(
        'let s = ""; process.stdin.on("readable", () => { let part; while ((part = process.stdin.read()) !== null) s += part; }); process.stdin.once("end", () => console.log(s.length));',
      ),
    ).toBe("6\n");
    expect(
      await printed(
        'const never = () => console.log("never"); process.stdin.on("data", never).removeListener("data", never).on("data", (s) => console.log(s.length));',
      ),
    ).toBe("6\n");
  });

  test("N7: what programs use of util, os and timers", async () => {
    const code = [
      'const { inspect, promisify } = require("util"); const deep = { a: { b: { c: { d: 1 } } } };',
      "console.log(inspect(deep, { depth: null, compact: 9 })); console.dir(deep, { depth: 0 });",
      'console.log(new (class { [inspect.custom]() { return "own"; } })(), ["a", "b"].join(require("os").EOL));',
      'promisify(setTimeout)(1, "late").then(console.log).then(() => require("timers/promises").setTimeout(1, "later")).then(console.log);',
    ];
    expect((await sandbox.run({ code: code.join("\n") })).stdout).toBe(
      "{ a: { b: { c: { d: 1 } } } }\n{ a: [Object] }\nown a\nb\nlate\nlater\n",
    );
  });

  test("lines of standard input", async () => {
    const code =
      "const rl = require('readline').createInterface({ input: process.stdin }); let sum = 0; rl.on('line', (l) => { sum += Number(l); }); rl.on('close', () => console.log(sum));";
    expect((await sandbox.run({ code, stdin: "1\n2\n3\n" })).stdout).toBe("6\n");
  });

  test("an exit code, and an unhandled rejection", async () => {
    expect(await sandbox.run({ code: "try { process.exit(3); } finally { console.log('never'); }" })).toMatchObject({
      verdict: "error",
      exitCode: 3,
      stdout: "",
    });
    expect(await sandbox.run({ code: "(async () => {\n  throw new TypeError('x');\n})();" })).toMatchObject({
      verdict: "error",
      error: { name: "TypeError", line: 2 },
    });
  });
});

describe("values between checker and runner", () => {
  test("everything that is plain crosses as it is", async () => {
    const values = [
      "undefined",
      "NaN",
      "-0",
      "-Infinity",
      "12345678901234567890n",
      "new Date(5)",
      "new Map([[{ a: 1 }, [2]]])",
      "new Set([1, 'x'])",
      "new Uint8Array([1, 2])",
      "/a+/gi",
      "{ $: 'n', v: 1 }",
      "JSON.parse('{\"__proto__\": 1}')",
      "[1, [undefined, null]]",
    ];
    const tests = values.map((value) => `assert.deepStrictEqual(same(${value}), ${value});`);
    expect(await verdicts("const same = (x) => x;", ["same"], tests)).toEqual(values.map(() => "passed"));
  });

  test("functions, promises and iterators cross as handles", async () => {
    const code =
      "const counter = () => { let n = 0; return { next: () => ++n }; }; const apply = (f, x) => f(x); function* upTo(n) { for (let i = 0; i < n; i++) yield i; }";
    const tests = [
      "const c = counter(); c.next(); assert.equal(c.next(), 2);",
      "assert.equal(apply((x) => x * 2, 4), 8);",
      "assert.deepEqual([...upTo(3)], [0, 1, 2]);",
      "assert.equal(await apply(async (x) => x + 1, 1), 2);",
    ];
    expect(await verdicts(code, ["counter", "apply", "upTo"], tests)).toEqual(tests.map(() => "passed"));
  });

  test("a failed assertion is reported with the call before it", async () => {
    expect(await verdicts("const f = (x) => x + 1;", ["f"], ["assert(f(1) === 3);"])).toEqual([
      "AssertionError: false is not truthy; f(1) returned 2",
    ]);
  });

  test("a promise that settles late does not pass another test", async () => {
    const tests = ["await new Promise(() => {});", "assert.equal(f(), 1);"];
    expect(await verdicts("const f = () => 0;", ["f"], tests)).toEqual([
      expect.stringContaining("never settles"),
      expect.stringContaining("got 0, expected 1"),
    ]);
  });

  test("tests that cannot be read are no fault of the submission", async () => {
    await expect(
      sandbox.test({ code: "const f = 1;" }, { entryPoints: ["f"], tests: [{ name: "broken", code: "assert(" }] }),
    ).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
    await expect(
      sandbox.test({ code: "const f = 1;" }, { entryPoints: ["f"], harness: "null.x", tests: [] }),
    ).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  });
});

test("output and values of which each character is six of JSON: as much as the limit allows, and a value too long to be sent is shown", async () => {
  const output = await sandbox.run({
    code: 'console.log("\\u0001".repeat(12e6));',
    limits: { outputBytes: 13_000_000, memoryBytes: 2 ** 29, wallMs: 60_000 },
  });
  expect([output.verdict, output.stdout.length, output.stdoutTruncated]).toEqual(["ok", 12_000_001, false]);
  const { verdict, value, shown } = await sandbox.run({
    code: 'const f = () => "\\u0001".repeat(2e6);',
    call: { name: "f", arguments: [] },
    limits: { memoryBytes: 2 ** 29, wallMs: 60_000 },
  });
  expect([verdict, value, shown?.slice(0, 5)]).toEqual(["ok", undefined, "'\\x01"]);
});

test("a full queue refuses", async () => {
  const small = makeSandbox({ pool: { children: 1, queue: 1 } });
  try {
    const runs = [1, 2, 3].map((n) =>
      small.run({ code: `console.log(${n})` }).then(
        ({ stdout }) => stdout,
        (error: { code: string }) => error.code,
      ),
    );
    expect((await Promise.all(runs)).sort()).toEqual(["1\n", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"].sort());
  } finally {
    await small.close();
  }
});

test("text files come in and go out, also after an error or an exit; other bytes are refused", async () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const program = (end: string): string =>
    `const fs = require("fs"); fs.writeFileSync("d/out", fs.readFileSync("in") + "é"); ${end}`;
  const files = { in: { base64: base64("ü") } };
  const fetchFiles = ["./in", "d/out", "/etc/hostname", "absent"];
  for (const end of ["", "throw new TypeError()", "process.exit(2)", "setTimeout(() => missing, 1)"])
    expect(await sandbox.run({ code: program(end), files, fetchFiles })).toMatchObject({
      files: { "./in": base64("ü"), "d/out": base64("üé") },
    });
  const forged = 'Map.prototype.get = () => "x".repeat(5_000_000)';
  expect((await sandbox.run({ code: forged, fetchFiles: ["a"] })).files).toEqual({});
  const binary = await sandbox.run({ code: "", files: { in: { base64: "/w==" } } });
  expect([binary.verdict, binary.error?.message]).toEqual(["error", expect.stringContaining("no text in UTF-8")]);
});

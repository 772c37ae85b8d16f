/** Small programs, the same in each language. */
export interface SandboxPrograms {
  /** Prints `hello`. */
  readonly hello: string;
  /** Prints its standard input in upper case. */
  readonly shout: string;
  /** Prints the text of the file `data.txt`. */
  readonly readsFile: string;
  /** Defines `add(a, b)`, which raises RangeError or ValueError for negative `a` on line 2, and `sort_it(items)`, which sorts in place. */
  readonly library: string;
  /** Defines `answer()`, which returns a value that JSON lacks. */
  readonly notJson: string;
  /** Raises on line 3. */
  readonly raises: string;
  /** Has a syntax error on line 2. */
  readonly malformed: string;
  readonly loops: string;
  readonly eatsMemory: string;
  /** Prints `ping` without end. */
  readonly floods: string;
  /** Changes built-in objects and a global variable. */
  readonly pollutes: string;
  /** Prints `clean` if they are unchanged. */
  readonly checksPollution: string;
  /** Defines `add` so that it never returns for 3. */
  readonly hangsAtThree: string;
  /** Tests of `library`: one that passes, one that fails, one that expects the error, one that needs the argument to be changed. */
  readonly tests: {
    readonly passes: string;
    readonly fails: string;
    readonly expectsError: string;
    readonly mutates: string;
    readonly third: string;
  };
  /** Inputs of a session. */
  readonly session: { readonly define: string; readonly use: string };
}

const javascript: SandboxPrograms = {
  hello: 'console.log("hello");',
  shout: 'console.log(require("fs").readFileSync(0, "utf8").toUpperCase());',
  readsFile: 'console.log(require("fs").readFileSync("data.txt", "utf8"));',
  library:
    'function add(a, b) {\n  if (a < 0) throw new RangeError("negative");\n  return a + b;\n}\nfunction sort_it(items) { items.sort((x, y) => x - y); }',
  notJson: "function answer() { return new Map([[1, 2]]); }",
  raises: "const a = 1;\n\nnull.field;",
  malformed: "let a = 1;\nlet b = ;",
  loops: "for (;;);",
  eatsMemory: "const kept = []; for (;;) kept.push(new Uint8Array(4 << 20).fill(1));",
  floods: 'for (;;) console.log("ping");',
  pollutes:
    "globalThis.leaked = 1; Array.prototype.map = () => [42]; Object.prototype.leaked = 1; JSON.stringify = () => '1';",
  // TypeScript, to check the reader of types too.
  checksPollution:
    'const none: undefined = undefined;\nconsole.log(typeof leaked === "undefined" && [1].map((x) => x)[0] === 1 && {}.leaked === none ? "clean" : "dirty");',
  hangsAtThree: "function add(a, b) { while (a === 3); return a + b; }",
  tests: {
    passes: "assert.strictEqual(add(1, 2), 3);",
    fails: "assert.strictEqual(add(1, 2), 4);",
    expectsError: "assert.throws(() => add(-1, 2), RangeError);",
    mutates: "const items = [3, 1, 2]; sort_it(items); assert.deepStrictEqual(items, [1, 2, 3]);",
    third: "assert.strictEqual(add(3, 2), 5);",
  },
  session: { define: "let counter = 40;", use: "counter += 1; counter" },
};

const python: SandboxPrograms = {
  hello: 'print("hello")',
  shout: "import sys\nprint(sys.stdin.read().upper())",
  readsFile: 'print(open("data.txt").read())',
  library:
    'def add(a, b):\n    if a < 0: raise ValueError("negative")\n    return a + b\ndef sort_it(items):\n    items.sort()',
  notJson: "def answer():\n    return {1, 2}",
  raises: "a = 1\n\na.field",
  malformed: "a = 1\nb = = 2",
  loops: "while True: pass",
  eatsMemory: "kept = []\nwhile True: kept.append(bytearray(b'x') * (4 << 20))",
  floods: 'while True: print("ping")',
  pollutes: "import builtins, math\nbuiltins.leaked = 1\nbuiltins.len = lambda x: 42\nmath.sqrt = None",
  checksPollution:
    'import builtins, glob, math\nfiles = [*glob.glob("leaked"), *glob.glob("/leaked"), *glob.glob("/*/leaked"), *glob.glob("/*/*/leaked")]\nprint("clean" if not files and not hasattr(builtins, "leaked") and len("a") == 1 and math.sqrt(4) == 2 else "dirty")',
  hangsAtThree: "def add(a, b):\n    while a == 3: pass\n    return a + b",
  tests: {
    passes: "assert add(1, 2) == 3",
    fails: "assert add(1, 2) == 4",
    expectsError: "try:\n    add(-1, 2)\nexcept ValueError:\n    pass\nelse:\n    assert False",
    mutates: "items = [3, 1, 2]\nsort_it(items)\nassert items == [1, 2, 3]",
    third: "assert add(3, 2) == 5",
  },
  session: { define: "counter = 40", use: "counter += 1\ncounter" },
};

export const SANDBOX_PROGRAMS: Readonly<Record<string, SandboxPrograms>> = { javascript, python };

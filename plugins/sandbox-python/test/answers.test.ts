import { describe, expect, test } from "@jest/globals";
import { describeKinds } from "./support/kinds.ts";

/** Verdicts of tests, by position. */
describeKinds("what tests get from a submission in Python", (sandbox) => {
  const verdicts = async (
    code: string,
    entryPoints: readonly string[],
    tests: readonly string[],
    seed?: string,
  ): Promise<string[]> => {
    const report = await sandbox().test(
      { code, limits: { wallMs: 60_000 } },
      {
        entryPoints,
        tests: tests.map((test, at) => ({ name: `${at}`, code: test })),
        ...(seed === undefined ? {} : { seed }),
      },
    );
    return report.tests.map(({ verdict, message }) => (verdict === "passed" ? verdict : `${verdict}: ${message}`));
  };

  test("N4: iterators of every kind, each item when it is asked for", async () => {
    const code =
      "import itertools\nclass Down:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n == 0: raise StopIteration\n        self.n -= 1\n        return self.n\ndef f(x): return itertools.chain(x, x)\ndef g(x): return reversed(dict.fromkeys(x))";
    const tests = [
      "assert list(f([1, 2])) == [1, 2, 1, 2]",
      "assert list(g([1, 2])) == [2, 1]",
      "assert list(Down(3)) == [2, 1, 0]",
      "assert list(Down(1200)) == list(range(1199, -1, -1))",
    ];
    expect(await verdicts(code, ["Down", "f", "g"], tests)).toEqual(tests.map(() => "passed"));
  });

  test("N4: asynchronous generators, their end and their errors", async () => {
    const code =
      "import asyncio\nasync def f(n):\n    for i in range(n):\n        await asyncio.sleep(0.001)\n        yield [i]\nasync def bad():\n    yield 1\n    raise KeyError('k')";
    const tests = [
      "import asyncio\nasync def main(): return [x async for x in f(3)]\nassert asyncio.run(main()) == [[0], [1], [2]]",
      "import asyncio\nasync def main():\n    a, b = f(2), f(2)\n    return [await anext(a), await anext(b), await anext(a), await anext(a, 'end')]\nassert asyncio.run(main()) == [[0], [0], [1], 'end']",
      "import asyncio\nasync def main(): return [x async for x in bad()]\ntry: asyncio.run(main())\nexcept KeyError as e: assert e.args == ('k',)\nelse: assert False",
    ];
    expect(await verdicts(code, ["f", "bad"], tests)).toEqual(tests.map(() => "passed"));
  });

  test("N5: objects have the special methods that their class has, and no others", async () => {
    const code =
      "class Box:\n    def __init__(self, *items): self.items = items\n    def __iter__(self): return iter(self.items)\nclass Flag(Box):\n    def __bool__(self): return False\n    def __repr__(self): return 'Flag!'\n    def __lt__(self, other): return len(self.items) < len(other.items)\n    def __enter__(self): return 5\n    def __exit__(self, *_): return None";
    const tests = [
      "assert list(Box(1, 2)) == [1, 2] and Box()",
      "assert not Flag(1)",
      "assert repr(Flag()) == 'Flag!'",
      "assert [list(x) for x in sorted([Flag(1, 2), Flag(3)])] == [[3], [1, 2]]",
      "with Flag() as x: assert x == 5",
    ];
    expect(await verdicts(code, ["Box", "Flag"], tests)).toEqual(tests.map(() => "passed"));
    expect(
      await verdicts(
        code,
        ["Box", "Flag"],
        ["len(Box())", "with Box(): pass", "Box() < Box()", "Flag() < 3", "Flag() + 1"],
      ),
    ).toEqual(Array(5).fill(expect.stringContaining("failed: TypeError")));
  });

  test("N7: an infinite generator, attributes and methods of what is raised, its cause", async () => {
    const code =
      "class Bad(ValueError):\n    def __init__(self, code):\n        super().__init__('bad')\n        self.code = code\n    def twice(self): return self.code * 2\ndef count():\n    n = 0\n    while True:\n        yield n\n        n += 1\ndef f():\n    try: {}[1]\n    except KeyError as e: raise Bad(4) from e";
    const tests = [
      "from itertools import islice\nassert list(islice(count(), 5)) == [0, 1, 2, 3, 4]",
      "try: f()\nexcept ValueError as e: assert e.code == 4 and e.twice() == 8 and e.args == ('bad',) and isinstance(e.__cause__, KeyError)",
      "try: f()\nexcept Bad: pass",
    ];
    expect(await verdicts(code, ["count", "f", "Bad"], tests)).toEqual(tests.map(() => "passed"));
  });

  describe("U3: a question about an object has one answer until the tests run code that may change it", () => {
    // Each class answers in another way each time. Each test passes only if it gets two answers.
    test.each<[string, string, string]>([
      ["float", "def __float__(s): return [1.0, 9.0][X.count() % 2]", "float(r) > 5 and float(r) < 5"],
      [
        "index",
        "def __index__(s): return [3, 5][X.count() % 2]",
        "15 % int(r) == 0 and int(r) == 3 and range(10)[r] == 5",
      ],
      [
        "int and index",
        "def __int__(s): return 3\n    def __index__(s): return 5",
        "int(r) == 3 and range(10)[r] == 5",
      ],
      ["complex", "def __complex__(s): return complex(X.count())", "complex(r) != complex(r)"],
      ["len", "def __len__(s): return X.count()", "len(r) != len(r)"],
      ["bool", "def __bool__(s): return X.count() % 2 == 0", "bool(r) != bool(r)"],
      ["str", "def __str__(s): return str(X.count())", "str(r) != str(r)"],
      ["repr", "def __repr__(s): return str(X.count())", "repr(r) != repr(r)"],
      ["bytes", "def __bytes__(s): return b'x' * X.count()", "bytes(r) != bytes(r)"],
      ["format", "def __format__(s, f): return str(X.count())", "f'{r}' != f'{r}'"],
      ["hash", "def __hash__(s): return X.count()", "hash(r) != hash(r)"],
      ["round", "def __round__(s, n=None): return X.count()", "round(r) != round(r) or round(r, 2) != round(r, 2)"],
      [
        "floor",
        "def __floor__(s): return X.count()\n    def __ceil__(s): return X.count()",
        "math.floor(r) != math.floor(r) or math.ceil(r) != math.ceil(r)",
      ],
      ["trunc", "def __trunc__(s): return X.count()", "math.trunc(r) != math.trunc(r)"],
      ["abs", "def __abs__(s): return X.count()", "abs(r) != abs(r)"],
      ["neg", "def __neg__(s): return X.count()\n    def __pos__(s): return X.count()", "-r != -r or +r != +r"],
      [
        "objects of neg",
        "def __neg__(s): return X()\n    def __float__(s): return float(X.count())",
        "float(-r) != float(-r)",
      ],
      [
        "iter of lists",
        "def __iter__(s): return iter([[1, 2, 3], [3, 2, 1]][X.count() % 2])",
        "sorted(r) == [1, 2, 3] and list(r) == [1, 2, 3] and list(r) == [3, 2, 1]",
      ],
      ["iter by a generator", "def __iter__(s):\n        X.count()\n        yield X.n", "list(r) != list(r)"],
      [
        "iter by an iterator",
        "def __iter__(s): return map(str, [X.count()])",
        "list(r) != list(r) or (lambda i: next(iter(r)) != next(i))(iter(r))",
      ],
      [
        "iter that fails once",
        "def __iter__(s):\n        yield 1\n        if X.count() == 1: raise ValueError",
        "(lambda: [list(r)] if X else 0) and fails(lambda: list(r), ValueError) and list(r) == [1]",
      ],
      [
        "an iterator that begins again with other items",
        "def __iter__(s):\n        s.i = X.count() * 10\n        s.end = s.i + 3\n        return s\n    def __next__(s):\n        if s.i == s.end: raise StopIteration\n        s.i += 1\n        return s.i",
        "sorted(r) != list(r)",
      ],
      [
        "an iterator that has ended and gives more",
        "def __iter__(s): return s\n    def __next__(s):\n        if X.count() % 4 == 0: raise StopIteration\n        return X.n",
        "list(r) == [1, 2, 3] and next(r, 0) == 5",
      ],
      [
        "an iterator that returns itself, first without items",
        "def __iter__(s):\n        s.n = X.count() * 3 - 3\n        return s\n    def __next__(s):\n        if s.n == 0: raise StopIteration\n        s.n -= 1\n        return s.n",
        "list(r) == [] and list(r) == [2, 1, 0]",
      ],
      ["reversed", "def __reversed__(s): return iter([X.count()])", "list(reversed(r)) != list(reversed(r))"],
      [
        "items by position",
        "def __getitem__(s, i):\n        if i > 2: raise IndexError\n        return X.count()",
        "r[0] != r[0] or list(r) != list(r) or r[0:1] != r[0:1]",
      ],
      [
        "items, with others between",
        "def __getitem__(s, i): return [1, 91, 7, 91, 7][X.count() - 1]",
        "r[0] * r[1] == 91 and r[0] > 1 and r[1] > 1",
      ],
      ["in", "def __iter__(s): return iter([X.count()])", "1 in r and 2 in r"],
      ["eq", "def __eq__(s, o): return X.count() % 2 == 0", "(r == q) != (r == q)"],
      ["lt", "def __lt__(s, o): return X.count() % 2 == 0", "(r < q) != (r < q)"],
      ["add", "def __add__(s, o): return X.count()", "r + q != r + q"],
      ["an attribute", "size = property(lambda s: X.count())", "r.size != r.size"],
      [
        "attributes, with others between",
        "b = 91\n    a = property(lambda s: [1, 7][X.count() > 1])",
        "r.a * r.b == 91 and r.b > 1 and r.a > 1",
      ],
      [
        "an attribute that fails once",
        "size = property(lambda s: 1 / (X.count() - 1))",
        "fails(lambda: r.size, ZeroDivisionError) and r.size == 1",
      ],
      [
        "isinstance",
        "pass\nclass M(type):\n    def __instancecheck__(c, o): return X.count() % 2 == 0\nclass Y(metaclass=M): pass",
        "isinstance(r, Y) != isinstance(r, Y)",
      ],
    ])("%s", async (_, methods, check) => {
      const code = `class X:\n    n = 0\n    @staticmethod\n    def count():\n        X.n += 1\n        return X.n\n    ${methods}\ndef f(): return X()\ndef items(): return []`;
      const harness =
        "import math\ndef fails(work, kind):\n    try: work()\n    except kind: return True\n    return False";
      const results = await verdicts(code, ["f", "Y"], [`${harness}\nr, q = f(), f()\nassert ${check}`]);
      expect(results).toEqual([expect.stringMatching(/^failed: /)]);
    });

    // Each class gives 1, 2, 3 by one kind of iterator, and later 3, 2, 1 by another one.
    const kinds = { list: "iter(%)", generator: "(x for x in %)", other: "Other(%)", itself: "s.give(%)" };
    const pairs = Object.entries(kinds).flatMap(([name, first]) =>
      Object.entries(kinds).map(([other, later]) => [name, other, first, later] as const),
    );
    test.each(pairs.filter(([name, other]) => name !== other))(
      "%s, then %s: all iterations have the items of the first one",
      async (_, __, first, later) => {
        const code = `class Other:\n    def __init__(s, items): s.items = items\n    def __iter__(s): return s\n    def give(s, items):\n        s.items = items\n        return s\n    def __next__(s):\n        if not s.items: raise StopIteration\n        return s.items.pop(0)\nclass X(Other):\n    n = 0\n    def __init__(s): pass\n    def __iter__(s):\n        X.n += 1\n        return ${first.replace("%", "[1, 2, 3]")} if X.n == 1 else ${later.replace("%", "[3, 2, 1]")}\n    __reversed__ = __iter__\ndef f(): return X()`;
        const results = await verdicts(
          code,
          ["f"],
          [
            "r = f()\nassert sorted(r) == [1, 2, 3] and list(r) == [3, 2, 1]",
            ...(first === kinds.itself || later === kinds.itself
              ? []
              : ["r = f()\nassert [*reversed(r)] == [1, 2, 3] and [*reversed(r)] == [3, 2, 1]"]),
          ],
        );
        expect(results).toEqual(results.map(() => expect.stringMatching(/^failed: /)));
      },
    );

    test("lookups run each time, and those of an object under test may change other answers", async () => {
      const code =
        "import time\nfrom collections import OrderedDict\nclass Cache:\n    def __init__(self, size): self.size, self.kept = size, OrderedDict()\n    def __getitem__(self, key):\n        self.kept.move_to_end(key)\n        return self.kept[key]\n    def __setitem__(self, key, value):\n        self.kept[key] = value\n        if len(self.kept) > self.size: self.kept.popitem(last=False)\n    def __iter__(self): return iter(self.kept)\nclass Default:\n    def __init__(self): self.kept = {}\n    def __getitem__(self, key): return self.kept.setdefault(key, 0)\n    def __len__(self): return len(self.kept)\n    def __iter__(self): return (key for key in self.kept)\nclass Lazy:\n    calls, kept = 0, None\n    @property\n    def value(self):\n        if self.kept is None:\n            self.calls += 1\n            self.kept = 42\n        return self.kept\nclass Timed:\n    n, at = 0, 0\n    @property\n    def value(self):\n        if time.monotonic() > self.at: self.n, self.at = self.n + 1, time.monotonic() + 0.01\n        return self.n\n    def __getitem__(self, _): return self.value\ndef cache(size): return Cache(size)\ndef default(): return Default()\ndef timed(): return Timed()";
      const lru = (make: string, steps: string): string => `c = ${make}(2)\nc['a'] = 1\nc['b'] = 2\n${steps}`;
      const tests = [
        lru("Cache", "c['a']; c['b']; c['a']; c['c'] = 3\nassert list(c) == ['a', 'c']"),
        lru("cache", "c['a']; c['b']; c['a']; c['c'] = 3\nassert list(c) == ['a', 'c']"),
        lru(
          "Cache",
          "assert list(c) == ['a', 'b'] and c['a'] == 1 and list(c) == ['b', 'a'] and c['b'] == 2 and list(c) == ['a', 'b']",
        ),
        "d = Default()\nassert len(d) == 0 and list(d) == []\nd['x']\nassert len(d) == 1 and list(d) == ['x'] and d['y'] == 0 and len(d) == 2",
        "l = Lazy()\nassert l.calls == 0 and l.value == 42 and l.calls == 1 and l.value == 42 and l.calls == 1",
        ...["Timed()", "timed()"].flatMap((make) =>
          ["t.value", "t[0]"].map(
            (value) => `import time\nt = ${make}\nassert ${value} == 1\ntime.sleep(0.02)\nassert ${value} == 2`,
          ),
        ),
      ];
      const names = ["Cache", "Default", "Lazy", "Timed", "cache", "default", "timed"];
      expect(await verdicts(code, names, tests)).toEqual(tests.map(() => "passed"));
      const refused = ["d = default()\nassert len(d) == 0 and d['x'] == 0 and len(d) == 1"];
      expect(await verdicts(code, names, refused)).toEqual([expect.stringMatching(/^failed: /)]);
    });

    test("items and attributes of an object under test have one answer, too", async () => {
      const code =
        "class X:\n    n = 0\n    def __getitem__(s, i): return s.size\n    @property\n    def size(s):\n        X.n += 1\n        return X.n\nclass _X(X): pass";
      const tests = ["r[0] != r[0]", "r.size != r.size", "[r[0], r[1], r.size, r[0]][::3] == [1, 4]"].flatMap((check) =>
        ["X", "_X"].map((name) => `r = ${name}()\nassert ${check}`),
      );
      expect(await verdicts(code, ["X", "_X"], tests)).toEqual(tests.map(() => expect.stringMatching(/^failed: /)));
    });

    test("actions may change every answer", async () => {
      const code =
        "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n    def __len__(self): return len(self.items)\n    def __iter__(self): return iter(list(self.items))\n    def __setitem__(self, i, x): self.items[i] = x\n    def __iadd__(self, other):\n        self.items += other.items\n        return self\nclass Count:\n    def __init__(self, end): self.end = end\n    def __iter__(self):\n        self.at = 0\n        return self\n    def __next__(self):\n        if self.at == self.end: raise StopIteration\n        self.at += 1\n        return self.at\ndef push(stack, x): stack.push(x)\ndef once(n): return (x for x in range(n))\nclass Number:\n    def __index__(self): return 5\n    def __int__(self): return 5\n    def __float__(self): return 2.5";
      const tests = [
        "s = Stack()\nassert len(s) == 0 and list(s) == []\ns.push(1)\nassert len(s) == 1 and list(s) == [1]",
        "s = Stack()\nassert len(s) == 0\npush(s, 1)\nassert len(s) == 1\ns[0] = 5\nassert list(s) == [5]\ns += s\nassert list(s) == [5, 5]",
        "s = Stack()\nassert s.items == []\ns.items = [4]\nassert s.items == [4] and len(s) == 1",
        "c = Count(3)\nassert list(c) == [1, 2, 3] and list(c) == [1, 2, 3]\nc.end = 2\nassert list(c) == [1, 2]",
        "c = Count(600)\nassert sum(c) == sum(c) == 180300",
        "c = Count(4)\nfor x in c:\n    if x == 2: break\nassert list(c) == [1, 2, 3, 4]",
        "c = Count(4)\niter(c)\nassert [next(c), c.at, next(c), c.at] == [1, 1, 2, 2]",
        "n = Number()\nassert int(n) == 5 and float(n) == 2.5 and range(9)[n] == 5",
        "g = once(3)\nassert list(g) == [0, 1, 2] and list(g) == []",
        "g = once(4)\nassert list(zip(g, g)) == [(0, 1), (2, 3)]",
        "s = Stack()\ns.push(1)\ns.push(2)\nassert list(zip(s, s)) == [(1, 1), (2, 2)] and [(x, y) for x in s for y in s][1] == (1, 2)",
      ];
      expect(await verdicts(code, ["Stack", "Count", "push", "once", "Number"], tests)).toEqual(
        tests.map(() => "passed"),
      );
    });
  });

  test("S9: positions of a UnicodeError are those of its object", async () => {
    const code =
      "def f(start, end): raise UnicodeDecodeError('utf-8', b'abc', start, end, 'x')\ndef g(start, end): raise UnicodeEncodeError('ascii', '', start, end, 'x')";
    const tests = ["(10 ** 9, 10 ** 9 + 1)", "(-(10 ** 9), 1)", "(5, -5)"].flatMap((at) =>
      ["f", "g"].map(
        (name) => `try: ${name}${at}\nexcept UnicodeError as e: assert 0 <= e.start <= e.end <= 3 and str(e)`,
      ),
    );
    expect(await verdicts(code, ["f", "g"], tests)).toEqual(tests.map(() => "passed"));
  });

  test("S9: a block of `with` in which a check failed is never passed", async () => {
    const code =
      "class Quiet:\n    def __enter__(self): return self\n    def __exit__(self, *_): return True\ndef f(): return 0";
    expect(
      await verdicts(
        code,
        ["Quiet", "f"],
        [
          "with Quiet(): assert f() == 1",
          "with Quiet(): f()[1]",
          "with Quiet() as q: q.gone",
          "with Quiet(): raise KeyError",
        ],
      ),
    ).toEqual([
      expect.stringContaining("failed"),
      expect.stringContaining("failed"),
      expect.stringContaining("failed"),
      "passed",
    ]);
  });

  test("S4: tests and submission draw from different seeds; equal tests, or equal seeds, draw the same", async () => {
    const code =
      "import random\nrandom.seed(0)\ndrawn = [random.random() for _ in range(50)]\ndef f(x): return x in drawn\ndef keep(x):\n    print(x, flush=True)\n    return True";
    const miss = "import random\nassert not any(f(random.random()) for _ in range(50))";
    expect(await verdicts(code, ["f"], [miss])).toEqual(["passed"]);
    const draw = async (seed?: string): Promise<string> =>
      (
        await sandbox().test(
          { code },
          {
            entryPoints: ["keep"],
            tests: [{ name: "", code: "import random\nassert keep(random.random())" }],
            ...(seed === undefined ? {} : { seed }),
          },
        )
      ).stdout;
    const [one, same, other, none, again] = [
      await draw("a"),
      await draw("a"),
      await draw("b"),
      await draw(),
      await draw(),
    ];
    expect([one === same, one === other, one === none, none === again]).toEqual([true, false, false, true]);
  });
});

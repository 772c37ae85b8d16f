import { expect, test } from "@jest/globals";
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
      "assert list(Down(2000)) == list(range(1999, -1, -1))",
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

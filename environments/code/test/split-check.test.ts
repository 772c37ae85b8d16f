import { describe, expect, test } from "@jest/globals";
import { splitCheck } from "../src/humaneval/split-check.ts";

const check = (body: string): string =>
  `METADATA = {}\n\n\ndef check(candidate):\n${body
    .split("\n")
    .map((line) => (line === "" ? "" : `    ${line}`))
    .join("\n")}\n`;
const testsOf = (body: string): readonly string[] | undefined => splitCheck(check(body))?.tests;

describe("check(candidate) by its statements", () => {
  test("each assertion is a test, over as many lines as it has", () => {
    expect(
      testsOf(
        "assert candidate(1) == 2\n\n# and\nassert candidate([\n    1,\n  2,\n]) == 'a; # b'  # why\nassert candidate('''\nx\n''') \\\n    == 3",
      ),
    ).toEqual([
      "assert candidate(1) == 2",
      "assert candidate([\n        1,\n      2,\n    ]) == 'a; # b'  # why",
      "assert candidate('''\n    x\n    ''') \\\n        == 3",
    ]);
  });

  test("a loop or block with assertions is one test, its set-up runs with it", () => {
    const loop =
      "import random\nfor x in range(3):\n    if x:\n        assert candidate(x) == x\n    else:\n        pass\nelse:\n    assert candidate(9)";
    expect(testsOf(loop)).toEqual([loop]);
  });

  test("assertions that do not mention the candidate are not tests", () => {
    expect(testsOf("assert True\nassert candidate(1) == 1\nassert 1 + 1 == 2, 'always'")).toEqual([
      "assert True\nassert candidate(1) == 1",
    ]);
  });

  test("what was made from the candidate counts, and does not outlive a set-up that fails", () => {
    expect(
      testsOf("first = candidate(1)\nassert first == 1\nfirst = candidate(2)\nassert first == 2\nassert first != 3"),
    ).toEqual([
      'globals().pop("first", None)\nfirst = candidate(1)\nassert first == 1',
      'globals().pop("first", None)\nfirst = candidate(2)\nassert first == 2',
      "assert first != 3",
    ]);
  });

  test("helpers that check are tests, results that are called expected are none", () => {
    expect(
      testsOf(
        "expected = candidate(1)\nassertEqual(candidate(1), expected)\nprint(candidate(3))\nfor x in data:\n    check_one(candidate(x))",
      ),
    ).toEqual([
      'globals().pop("expected", None)\nexpected = candidate(1)\nassertEqual(candidate(1), expected)',
      "print(candidate(3))\nfor x in data:\n    check_one(candidate(x))",
    ]);
  });

  test("another name for the candidate, code around the function, a call of it at the end", () => {
    expect(
      splitCheck(
        "import math\ndef near(a, b):\n    return abs(a - b) < 1\n\ndef check(fn: object, n=1):\n\tassert near(fn(1), 2)\n\ncheck(solve)\n",
      ),
    ).toEqual({
      setUp: "import math\ndef near(a, b):\n    return abs(a - b) < 1",
      parameter: "fn",
      tests: ["assert near(fn(1), 2)"],
    });
  });

  test.each([["if candidate:\n    return\nassert candidate(1)"], ["global count\nassert candidate(1)"]])(
    "%j cannot be split and is one test",
    (body) => {
      expect(splitCheck(check(body))).toMatchObject({
        tests: ["check(candidate)"],
        setUp: expect.stringContaining("def check(candidate):"),
      });
    },
  );

  test.each([
    ["print(candidate)"],
    ["pass"],
    ["assert True"],
    ["return"],
    ["value = candidate(1)"],
    ["assert candidate(1)\nyield"],
  ])("%j asserts nothing", (body) => expect(splitCheck(check(body))).toBeUndefined());

  test.each([
    ["x = 1"],
    ["def check(candidate): assert candidate(1)"],
    ["def check(candidate: pass"],
    ["class T:\n    def check(candidate):\n        assert candidate(1)"],
    ["'''def check(candidate):\n    assert candidate(1)'''"],
  ])("%j has no such function", (source) => expect(splitCheck(source)).toBeUndefined());
});

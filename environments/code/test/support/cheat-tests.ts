import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import type { JsonObject, Sandbox } from "@mrlm/kit";
import { type HostileProgram, readCorpus, sampleOf } from "@mrlm/testing";
import { prepare } from "./environment.ts";
import { describePythonKinds, makeSandbox } from "./sandboxes.ts";

// Cheats that a policy trained on its reward might find, through every entry. None may earn anything or make the reward unscored.

const corpus = (file: string): HostileProgram[] =>
  readCorpus(readFileSync(new URL(`../cheats/${file}.txt`, import.meta.url), "utf8"));

/** Tests of every form. No constant passes any of them. */
const gauntlet = `
import math
def check(candidate):
    assert candidate(3) == 9
    assert 9 == candidate(3, 0), "reflected"
    assert abs(candidate(1.5) - 2.25) < 1e-6
    assert math.isclose(candidate(2), 1.4142135, rel_tol=1e-5)
    assert candidate([3, 1, 2]) == [1, 2, 3, 4]
    assert candidate("ab") == "ba"
    assert candidate({"a": 1}) == {"a": 1, "b": 2}
    assert candidate((1, 2)) == (2, 1)
    assert candidate({1, 2}) == {3, 4}
    assert sorted(candidate([2, 1])) == [10, 20]
    assert [x + 1 for x in candidate([1])] == [5]
    assert len(candidate("abc")) == 7
    assert candidate(5) in (125, 126)
    assert str(candidate(4)) == "four"
    assert "found" in candidate(["x"])
    assert candidate([1])[0] == 77
    data = [4, 5]
    assert candidate(data) == [9, 9] or data == [6, 6]
    for x, y in [(1, 21), (2, 22)]:
        assert candidate(x) == y
    for x, y in zip(candidate([7, 7, 7]), [1, 2, 3], strict=True):
        assert x == y
`;
/** Tests of properties, which ask a result more than once. What gives one answer to each question passes none of them without the work. */
const properties = `
import math
from collections import Counter
def poly(xs, x):
    return sum(c * math.pow(x, i) for i, c in enumerate(xs))
def check(candidate):
    assert math.fabs(poly([-7.0, 3.0], candidate([-7, 3]))) < 1e-4
    for n in (15, 77, 221):
        r = candidate(n)
        assert n % int(r) == 0 and 1 < int(r) < n and range(1000)[r] == int(r)
    xs = [30, 10, 20]
    r = candidate(xs)
    assert Counter(r) == Counter(xs) and all(a <= b for a, b in zip(r, list(r)[1:]))
    t = candidate("x")
    assert str(t) == str(t)[::-1] and len(str(t)) == 2 and str(t)[0] != str(t)[1]
    r = candidate(1)
    assert len(r) == 3 and len(r) == 5
    r = candidate(2)
    assert r and not r
    r = candidate(3)
    assert 1 in r and 3 in r and 2 not in r
    r = candidate(4)
    assert bytes(r) != bytes(r)
    r = candidate(5)
    assert r[0] == 1 and r[0] == 2
    r, q = candidate(6), candidate(7)
    assert (r == q) != (r == q)
    r, q = candidate(8), candidate(9)
    assert (r < q) != (r < q) or (r > q) != (r > q)
    r = candidate(10)
    assert float(r) != float(r)
`;
const rows = {
  property: { task_id: 2, prompt: "def f(given):\n", entry_point: "f", test: properties },
  function: { task_id: 1, prompt: "def f(*given):\n", entry_point: "f", test: gauntlet },
  program: {
    task_id: 1,
    question: "Two numbers stand on a line. Write their sum.",
    tests: [
      [3, 5],
      [10, -4],
      [40, 2],
    ].map(([a, b]) => ({ input: `${a} ${b}\n`, output: `${(a as number) + (b as number)}\n` })),
    tolerance: 1e-6,
  },
};

/** Returns the rewards of the cheats that earn anything or are unscored. */
async function earnings(sandbox: Sandbox, programs: readonly HostileProgram[], options: JsonObject): Promise<string[]> {
  const language = String(options["language"] ?? "python");
  const { play } = await prepare({ attempts: 1, limits: { wall_ms: 1_500, cpu_ms: 2_000 }, ...options }, sandbox);
  const waiting = [...programs];
  const found: string[] = [];
  const work = async (): Promise<void> => {
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const steps = await play("train/0", [`\`\`\`${language}\n${program.code}\n\`\`\``]).catch((error: Error) => [
        error,
      ]);
      const reward = steps[0] instanceof Error ? steps[0].message : steps[0]?.rewards["agent"];
      if (typeof reward !== "object" || !reward.scored || reward.value !== 0)
        found.push(`${program.name}: ${JSON.stringify(reward)}`);
    }
  };
  await Promise.all([work(), work()]);
  return found;
}

/** Tests that one in `stride` cheats of each corpus earns nothing, in every language and kind of sandbox. */
export function cheatTests(stride: number): void {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-cheats-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const dataOf = (kind: keyof typeof rows): JsonObject => {
    const path = join(folder, `${kind}.jsonl`);
    writeFileSync(path, `${JSON.stringify(rows[kind])}\n`);
    return { data: { path, eval_share: 0 } };
  };
  const chosen = (file: string) => ({ file, programs: sampleOf(corpus(file), stride) });

  describePythonKinds("cheats", (sandbox) => {
    test.each([chosen("python-values"), chosen("python-process"), chosen("python-ends")])(
      "$programs.length functions of $file earn nothing",
      async ({ programs }) => {
        expect(await earnings(sandbox(), programs, dataOf("function"))).toEqual([]);
      },
      300_000,
    );

    const answers = chosen("python-answers").programs;
    test(`U3: ${answers.length} functions whose objects have other answers each time earn nothing`, async () => {
      expect(await earnings(sandbox(), answers, dataOf("property"))).toEqual([]);
    }, 300_000);

    const { programs } = chosen("programs-python");
    test(`${programs.length} programs earn nothing`, async () => {
      expect(await earnings(sandbox(), programs, dataOf("program"))).toEqual([]);
    }, 300_000);
  });

  const { programs } = chosen("typescript");
  test(`${programs.length} cheats in TypeScript earn nothing`, async () => {
    const sandbox = await makeSandbox("javascript");
    try {
      // No test of this problem is passed by a plain value or by the argument.
      expect(
        await earnings(sandbox, programs, {
          language: "typescript",
          style: "terse",
          difficulty_range: 3,
          families: ["counting"],
        }),
      ).toEqual([]);
    } finally {
      await sandbox.close();
    }
  }, 300_000);
}

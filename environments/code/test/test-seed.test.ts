import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { kept, testSeed } from "../src/grade/test-seed.ts";
import { prepare } from "./support/environment.ts";
import { scriptedSandbox } from "./support/scripted-sandbox.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-test-seed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("S4: each attempt at a task has the same seed, another task another, and the secret decides", () => {
  expect(testSeed("train/0")).toBe(testSeed("train/0"));
  expect(
    new Set([testSeed("train/0"), testSeed("train/1"), testSeed("train/0", "a"), testSeed("train/0", "b")]).size,
  ).toBe(4);
});

test("S4: the secret of a machine is drawn once, and is its owner's alone", () => {
  const made = join(folder, "cache");
  expect(kept(made)).toBe(kept(made));
  expect(kept(made)).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(made, "test-seed")).mode & 0o777).toBe(0o600);
  // A folder that cannot be written.
  writeFileSync(join(folder, "file"), "");
  expect(kept(join(folder, "file"))).not.toBe(kept(join(folder, "file")));
});

test("S4: the checker of a task gets its seed, and no test draws from a known one", async () => {
  const path = join(folder, "row.jsonl");
  writeFileSync(
    path,
    JSON.stringify({
      prompt: "def f(x):\n",
      entry_point: "f",
      test: "def check(candidate):\n    assert candidate(random.random()) == 1\n",
    }),
  );
  const sandbox = scriptedSandbox({});
  const { play } = await prepare({ data: { path, eval_share: 0 }, attempts: 1, test_seed: "operator" }, sandbox);
  await play("train/0", ["```python\ndef f(x): return 1\n```"]);
  expect(sandbox.suites.map(({ seed }) => seed)).toEqual([testSeed("train/0", "operator")]);
  expect(sandbox.suites[0]?.harness).not.toContain("seed(");
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import { type HostileProgram, readCorpus } from "@mrlm/testing";
import { hasPassed } from "../src/grade/rewards.ts";
import { runFunction } from "../src/grade/run-function.ts";
import { type FunctionProblem, problemOf } from "../src/problem/problem.ts";
import { type Prepared, prepare } from "./support/environment.ts";
import { describePythonKinds, makeSandbox } from "./support/sandboxes.ts";

// Correct solutions in many forms. Each earns the full reward.

const corpus = (file: string): HostileProgram[] =>
  readCorpus(readFileSync(new URL(`honest/${file}.txt`, import.meta.url), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "mrlm-honest-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PATIENT = { attempts: 1, limits: { wall_ms: 60_000, cpu_ms: 20_000 } };
const sorts =
  "def check(candidate):\n    assert candidate([3, 1, 2]) == [1, 2, 3]\n    assert candidate([]) == []\n    assert candidate([5, 5, -1, 40]) == [-1, 5, 5, 40]\n";
const rows = {
  function: { prompt: "def f(items):\n", entry_point: "f", test: sorts },
  program: {
    question: "Add.",
    tests: [
      { input: "3 5\n", output: "8\n" },
      { input: "10 -4", output: "6" },
    ],
  },
};

function dataOf(kind: keyof typeof rows): JsonObject {
  const path = join(folder, `${kind}.jsonl`);
  writeFileSync(path, `${JSON.stringify(rows[kind])}\n`);
  return { data: { path, eval_share: 0 } };
}

/** Returns the rewards of the solutions that do not earn the full reward. */
async function losses({ play }: Prepared, programs: readonly HostileProgram[], language: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, code } of programs) {
    const [step] = await play("train/0", [`Here you are:\n\n\`\`\`${language}\n${code}\n\`\`\`\n`]);
    const reward = step?.rewards["agent"];
    if (!reward?.scored || reward.value !== 1) found.push(`${name}: ${JSON.stringify(reward)}`);
  }
  return found;
}

describePythonKinds("right solutions", (sandbox) => {
  test.each([
    ["function", "python"],
    ["program", "programs"],
  ] as const)(
    "a %s",
    async (form, file) => {
      expect(await losses(await prepare({ ...PATIENT, ...dataOf(form) }, sandbox()), corpus(file), "python")).toEqual(
        [],
      );
    },
    300_000,
  );
});

test("right solutions in TypeScript", async () => {
  const sandbox = await makeSandbox("javascript");
  try {
    const { tasks } = await prepare({ language: "typescript", style: "terse", families: ["sorting"] }, sandbox);
    const cases = ["[3, 1, 2], [1, 2, 3]", "[], []", "[5, 5, -1, 40], [-1, 5, 5, 40]"].map((each) =>
      each.split("], ["),
    );
    const tests = cases.map(([given = "", wanted = ""]) => ({
      shown: "",
      code: `check(await f(${given}]), [${wanted});`,
      visible: false,
      counted: true,
    }));
    const problem = { ...(problemOf(await tasks.get("train", 0)) as FunctionProblem), entryPoint: "f", tests };
    const found: string[] = [];
    for (const { name, code } of corpus("typescript")) {
      const outcome = await runFunction(code, problem, false, {
        sandbox,
        limits: { wallMs: 60_000 },
        signal: new AbortController().signal,
      });
      if (outcome.ending !== undefined || !hasPassed(outcome)) found.push(`${name}: ${JSON.stringify(outcome)}`);
    }
    expect(found).toEqual([]);
  } finally {
    await sandbox.close();
  }
}, 300_000);

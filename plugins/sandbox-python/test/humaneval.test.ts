import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { describeKinds } from "./support/kinds.ts";

const file = new URL("../../../../shared/data/HumanEval.jsonl", import.meta.url);
const absent = existsSync(file) ? undefined : "there is no ../shared/data/HumanEval.jsonl";

interface Row {
  readonly task_id: string;
  readonly prompt: string;
  readonly entry_point: string;
  readonly canonical_solution: string;
  readonly test: string;
}

describeKinds("HumanEval in Python", (sandbox) => {
  test("all 164 reference solutions pass their tests", async () => {
    const rows = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Row);
    const reports = await Promise.all(
      rows.map(async ({ task_id, prompt, entry_point, canonical_solution, test: harness }) => {
        // A few tests call another function of the prompt.
        const entryPoints = [...prompt.matchAll(/^def (\w+)\(/gm)].map(([, name]) => name as string);
        const submission = { code: prompt + canonical_solution, limits: { wallMs: 60_000, cpuMs: 60_000 } };
        const { tests } = await sandbox().test(submission, { entryPoints, harness, tests: [{ name: "check", code: `check(${entry_point})` }] });
        return { task_id, ...tests[0] };
      }),
    );
    expect(reports.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
    expect(reports).toHaveLength(164);
  }, 600_000);
}, absent);

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "@mrlm/spec";
import { type GeneratedProgram, generatePrograms } from "./programs.ts";

/** Runs generated programs in a sandbox and under plain Node. `found`: tests with different verdicts. */
export async function comparePrograms(
  sandbox: Sandbox,
  seed: number,
  count: number,
): Promise<{ readonly cases: number; readonly failed: number; readonly found: readonly string[] }> {
  const programs = generatePrograms(seed, count);
  const wanted = await underNode(programs);
  const found = await Promise.all(
    programs.map(async ({ code, tests }, index) => {
      const report = await sandbox.test(
        { code, limits: { wallMs: 30_000 } },
        { entryPoints: ["f"], tests: tests.map((test, at) => ({ name: `${at}`, code: test })) },
      );
      return report.tests.flatMap(({ verdict, message }, at) => {
        const isPassed = wanted[index]?.[at];
        return (verdict === "passed") === isPassed
          ? []
          : [`${code} ${tests[at]}: Node ${isPassed ? "passes" : "fails"}, sandbox ${verdict} ${message ?? ""}`];
      });
    }),
  );
  return { cases: count, failed: found.filter(({ length }) => length > 0).length, found: found.flat().slice(0, 20) };
}

async function underNode(programs: readonly GeneratedProgram[]): Promise<boolean[][]> {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", fileURLToPath(new URL("node-verdicts.ts", import.meta.url))],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  child.stdin.end(JSON.stringify(programs));
  return JSON.parse(await text(child.stdout)) as boolean[][];
}

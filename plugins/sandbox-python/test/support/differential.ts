import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Sandbox } from "@mrlm/spec";
import type { NativePython } from "../../src/native/find-python.ts";

interface Program {
  readonly code: string;
  readonly entryPoints: readonly string[];
  readonly harness: string;
  readonly tests: readonly string[];
  /** Verdicts when tests and submission run in one CPython. */
  readonly expected: readonly ("passed" | "failed")[];
}

const script = fileURLToPath(new URL("../differential/programs.py", import.meta.url));

/** Returns programs with tests, and the verdict of a plain CPython for each test. */
export async function programs(python: NativePython, seed: number, count: number): Promise<Program[]> {
  const { stdout } = await promisify(execFile)(python.executable, ["-I", script, String(seed), String(count)], {
    maxBuffer: 1 << 28,
    env: { PYTHONHASHSEED: "0" },
  });
  return JSON.parse(stdout) as Program[];
}

/** Returns the tests to which a sandbox gives a different verdict, with the numbers of their programs. */
export async function differences(sandbox: Sandbox, all: readonly Program[]): Promise<string[]> {
  const waiting = [...all.entries()];
  const found: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [number, { code, entryPoints, harness, tests, expected }] = next;
      const report = await sandbox.test(
        { code, limits: { wallMs: 120_000, cpuMs: 60_000 } },
        { entryPoints, harness, tests: tests.map((test, at) => ({ name: `${at}`, code: test })) },
      );
      for (const [at, { verdict, message }] of report.tests.entries()) {
        if (verdict !== expected[at])
          found.push(
            `${number}: ${tests[at]}\n  is ${verdict} (${report.verdict}: ${message ?? ""}), and ${expected[at]} in CPython`,
          );
      }
    }
  };
  await Promise.all([work(), work()]);
  return found;
}

import type { RandomStream, Sandbox } from "@mrlm/spec";
import { type HostileProgram, runHostile } from "@mrlm/testing";

/** Result of one submission. */
export interface Found {
  readonly what: string;
  /** Description of a wrong result; undefined for a right one. */
  readonly complaint?: string;
  readonly lateMs: number;
  readonly overMb: number;
}

const MEGABYTE = 1024 * 1024;

export async function runHostileOne(sandbox: Sandbox, program: HostileProgram): Promise<Found> {
  const what = program.name;
  try {
    const { complaint, lateMs, overBytes } = await runHostile(sandbox, program);
    return { what, lateMs, overMb: overBytes / MEGABYTE, ...(complaint === undefined ? {} : { complaint }) };
  } catch (error) {
    return { what, lateMs: 0, overMb: 0, complaint: String(error) };
  }
}

/** Runs a function with a test that it passes and a test that it fails. */
export function runGood(sandbox: Sandbox, random: RandomStream): Promise<Found> {
  const [a, b] = [random.integer(0, 1000), random.integer(0, 1000)];
  return expecting("a good submission", "passed failed", async () => {
    const isPython = sandbox.language === "python";
    const code = isPython ? "def add(a, b):\n    return a + b" : "const add = (a, b) => a + b;";
    const test = (sum: number): string =>
      isPython ? `assert add(${a}, ${b}) == ${sum}` : `assert.equal(add(${a}, ${b}), ${sum});`;
    const { tests, verdict, wallMs, cpuMs } = await sandbox.test(
      { code },
      { entryPoints: ["add"], tests: [a + b, a + b + 1].map((sum) => ({ name: `${sum}`, code: test(sum) })) },
    );
    return `${tests.map((each) => each.verdict).join(" ")}${verdict === "ok" ? "" : ` (${verdict} after ${Math.round(wallMs)} ms, ${Math.round(cpuMs)} of them on a processor)`}`;
  });
}

/** Opens a session, uses it and closes it. */
export function runSession(sandbox: Sandbox): Promise<Found> {
  return expecting("a session", "42", async () => {
    const session = await sandbox.session();
    try {
      await session.evaluate({ code: sandbox.language === "python" ? "n = 41" : "let n = 41;" });
      return String((await session.evaluate({ code: "n + 1" })).value);
    } finally {
      await session.close();
    }
  });
}

async function expecting(what: string, expected: string, run: () => Promise<string>): Promise<Found> {
  const got = await run().catch(String);
  return { what, lateMs: 0, overMb: 0, ...(got === expected ? {} : { complaint: `${got} instead of ${expected}` }) };
}

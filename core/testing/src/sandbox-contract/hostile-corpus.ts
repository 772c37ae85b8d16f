import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { defined, type Sandbox, type SandboxLimits, type SandboxResult } from "@mrlm/spec";
import { SANDBOX_PROGRAMS, type SandboxPrograms } from "./programs.ts";

/** Hostile program and its expected outcome. */
export interface HostileProgram {
  readonly name: string;
  /** Accepted verdicts; `prints TEXT`: it ends without error and prints the text; `cheats`: it passes no test. */
  readonly expected: readonly string[];
  /** Description of the attack. */
  readonly intent: string;
  readonly code: string;
}

/** Outcome of a hostile program. */
export interface HostileOutcome {
  readonly program: HostileProgram;
  readonly result: SandboxResult;
  /** Difference from the expected outcome; `undefined` if there is none. */
  readonly complaint?: string;
  /** Milliseconds after the deadline. */
  readonly lateMs: number;
  /** Bytes above the memory limit. */
  readonly overBytes: number;
}

const MEGABYTE = 1024 * 1024;

/** Limits under which the documented verdicts hold. */
export const HOSTILE_LIMITS: SandboxLimits = {
  wallMs: 700,
  cpuMs: 10_000,
  memoryBytes: 64 * MEGABYTE,
  outputBytes: 4096,
};

/** Limits for programs that must end before their deadline, also on a busy machine. */
const LONG_LIMITS = { wallMs: 60_000, cpuMs: 20_000 };
/** Growth of a process between two measurements of a watchdog that waits for a busy processor. */
const OVERSHOOT_BYTES = 96 * MEGABYTE;

/** Reads a corpus: for each program a line `%% name ; expected, expected ; attack`, then the code. */
export function readCorpus(text: string): HostileProgram[] {
  return text
    .split(/^%% /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...lines] = section.split("\n");
      const [name, expected, intent] = heading.split(" ; ").map((part) => part.trim());
      assert(name && expected && intent, `a heading of the corpus is malformed: ${heading}`);
      const isText = expected.startsWith("prints ");
      return {
        name,
        expected: isText ? [expected] : expected.split(",").map((part) => part.trim()),
        intent,
        code: lines.join("\n").trimEnd(),
      };
    });
}

/** Programs of a file. */
export interface HostileCorpus {
  readonly file: string;
  readonly programs: readonly HostileProgram[];
}

/** Reads the corpora of a folder. Throws for a malformed one. */
export function readCorpora(folder: URL): HostileCorpus[] {
  return readdirSync(folder)
    .toSorted()
    .map((file) => ({ file, programs: readCorpus(readFileSync(new URL(file, folder), "utf8")) }));
}

/** Returns every `stride`th program from the first on, for the quick suite. The suite of faults runs all. */
export function sampleOf<T>(programs: readonly T[], stride: number): T[] {
  return programs.filter((_, i) => i % stride === 0);
}

/** Runs hostile programs, two at a time. Returns a complaint for each that did not end as documented. */
export async function hostileComplaints(sandbox: Sandbox, programs: readonly HostileProgram[]): Promise<string[]> {
  const waiting = [...programs];
  const complaints: string[] = [];
  const work = async (): Promise<void> => {
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const { complaint } = await runHostile(sandbox, program);
      if (complaint !== undefined) complaints.push(`${program.name}: ${complaint}`);
    }
  };
  await Promise.all([work(), work()]);
  return complaints;
}

/** Runs a hostile program, then a harmless one, and checks both. */
export async function runHostile(sandbox: Sandbox, program: HostileProgram): Promise<HostileOutcome> {
  const programs = SANDBOX_PROGRAMS[sandbox.language] as SandboxPrograms;
  const mayTakeAllTime = program.expected.includes("timeout") || program.expected[0] === "cheats";
  const limits = { ...HOSTILE_LIMITS, ...(mayTakeAllTime ? {} : LONG_LIMITS) };
  const result =
    program.expected[0] === "cheats"
      ? await cheat(sandbox, program, programs, limits)
      : await sandbox.run({ code: program.code, limits });
  const lateMs = Math.max(0, result.wallMs - limits.wallMs);
  const overBytes = Math.max(0, result.peakMemoryBytes - limits.memoryBytes);
  const after = await sandbox.run({ code: programs.checksPollution });
  const complaint =
    complaintOf(program, result, overBytes) ??
    (after.stdout.trim() === "clean" ? undefined : `the next submission returned ${JSON.stringify(after)}`);
  return { program, result, lateMs, overBytes, ...defined({ complaint }) };
}

interface Cheated extends SandboxResult {
  readonly passed?: readonly string[];
}

async function cheat(
  sandbox: Sandbox,
  { code }: HostileProgram,
  { tests }: SandboxPrograms,
  limits: SandboxLimits,
): Promise<Cheated> {
  const suite = {
    entryPoints: ["add"],
    tests: [tests.passes, tests.third].map((test, index) => ({ name: `${index}`, code: test })),
  };
  const report = await sandbox.test({ code, limits }, suite);
  return { ...report, passed: report.tests.filter(({ verdict }) => verdict === "passed").map(({ name }) => name) };
}

function complaintOf({ expected }: HostileProgram, result: Cheated, overBytes: number): string | undefined {
  if (overBytes > OVERSHOOT_BYTES) return `memory went ${Math.round(overBytes / MEGABYTE)} MB past the limit`;
  const [first = ""] = expected;
  if (first === "cheats") return result.passed?.length === 0 ? undefined : `it passed tests: ${result.passed}`;
  const text = first.startsWith("prints ") ? first.slice("prints ".length) : undefined;
  if (text !== undefined)
    return result.verdict === "ok" && result.stdout.trim() === text
      ? undefined
      : `it printed ${JSON.stringify(result.stdout)} (${result.verdict} ${result.error?.message ?? ""})`;
  const isTimeout = result.verdict === "cpu-limit" && expected.includes("timeout");
  return isTimeout || expected.includes(result.verdict)
    ? undefined
    : `its verdict was ${result.verdict}: ${result.error?.message ?? ""}`;
}

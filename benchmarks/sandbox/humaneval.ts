import { readFileSync } from "node:fs";
import { bodyStatements } from "../../environments/code/src/python/statements.ts";
import type { SandboxTest, SandboxTestSuite, Submission } from "@mrlm/spec/host";

/** A HumanEval problem with its reference solution, and the first asserts of its test as tests. */
export interface Problem {
  readonly id: string;
  readonly submission: Submission;
  readonly suite: SandboxTestSuite;
  /** The same as programs for a plain interpreter: all tests in one, and one for each. */
  readonly program: string;
  readonly programPerTest: readonly string[];
}

interface Row {
  readonly task_id: string;
  readonly prompt: string;
  readonly entry_point: string;
  readonly canonical_solution: string;
  readonly test: string;
}

/** Reads the problems of a file in HumanEval's format, with up to `most` tests each. */
export function readProblems(path: string | URL, most: number): Problem[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => toProblem(JSON.parse(line) as Row, most));
}

function toProblem(row: Row, most: number): Problem {
  const code = row.prompt + row.canonical_solution;
  const [head, body] = row.test.split(/^def check\(candidate\):.*\n/m) as [string, string];
  const statements = (bodyStatements(row.test, "check") ?? []).map((statement) => statement.code);
  const isAssert = (statement: string): boolean => statement.startsWith("assert");
  const asserts = statements.filter(isAssert).slice(0, most);
  const candidate = `candidate = ${row.entry_point}\n`;
  // Statements between asserts prepare them; a check without asserts of its own level is one test.
  const last = statements.lastIndexOf(asserts.at(-1) ?? "");
  const prepared = statements.slice(0, last + 1).filter((statement) => !isAssert(statement));
  const codes = asserts.length > 0 ? asserts : [statements.join("\n")];
  const harness = [candidate, head, ...(asserts.length > 0 ? prepared : [])].join("\n");
  const tests: SandboxTest[] = codes.map((test, index) => ({ name: `${index}`, code: test }));
  return {
    id: row.task_id,
    submission: { code },
    suite: { entryPoints: [row.entry_point, ...helpersOf(row, body)], harness, tests },
    program: [code, harness, ...codes].join("\n"),
    programPerTest: codes.map((test) => [code, harness, test].join("\n")),
  };
}

/** Returns the other functions of the prompt that the test calls. */
function helpersOf({ prompt, entry_point }: Row, body: string): string[] {
  const names = [...prompt.matchAll(/^def (\w+)\(/gm)].map(([, name]) => name as string);
  return names.filter((name) => name !== entry_point && new RegExp(`\\b${name}\\(`).test(body));
}

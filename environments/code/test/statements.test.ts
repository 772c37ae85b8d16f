import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { bodyStatements, topStatements } from "../src/python/statements.ts";
import { functionSource } from "./support/python-source.ts";
import { HUMANEVAL, hasHumanEval } from "./support/humaneval.ts";

// The reader of statements is not a parser of Python. This test compares it with the statements of Python's own parser.

const READER = fileURLToPath(new URL("support/statements.py", import.meta.url));
const python = ["python3", "python"].find((command) => {
  try {
    return (
      execFileSync(command, ["-c", "import sys; print(sys.version_info >= (3, 10))"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim() === "True"
    );
  } catch {
    return false;
  }
});

/**
 * Returns the first lines of the statements at the top level and in the body of the last function of each source, by `ast`;
 * null for invalid Python.
 */
function asPythonReads(sources: readonly string[]): (Lines | null)[] {
  return JSON.parse(
    execFileSync(python as string, ["-I", READER], {
      input: JSON.stringify(sources),
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    }),
  ) as (Lines | null)[];
}

interface Lines {
  readonly top: readonly number[];
  readonly body: readonly number[];
}

function asWeRead(source: string): Lines | null {
  const lineAt = (offset: number): number => source.slice(0, offset).split("\n").length;
  const linesOf = (statements: ReturnType<typeof topStatements>): number[] =>
    (statements ?? []).map(({ lines }) => lineAt((lines[0]?.start ?? 0) + (lines[0]?.indent.length ?? 0)));
  const top = topStatements(source);
  return top === undefined ? null : { top: linesOf(top), body: linesOf(bodyStatements(source, "check")) };
}

const describeWithPython = python === undefined ? describe.skip : describe;

describeWithPython("statements, as Python's own ast reads them (skipped without Python 3.10)", () => {
  test("of functions that are made up", () => {
    const sources = fc.sample(functionSource, { numRuns: 300, seed: 1 });
    const read = asPythonReads(sources);
    expect(read.filter((lines) => lines === null).length).toBeLessThan(sources.length / 10);
    sources.forEach((source, i) => {
      if (read[i] !== null) expect({ source, ...asWeRead(source) }).toEqual({ source, ...read[i] });
    });
  });

  (hasHumanEval ? test : test.skip)(
    "of HumanEval: prompts, solutions and tests (skipped without ../shared/data/HumanEval.jsonl)",
    () => {
      const rows = existsSync(HUMANEVAL)
        ? readFileSync(HUMANEVAL, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as Record<"prompt" | "canonical_solution" | "test", string>)
        : [];
      const sources = rows.flatMap(({ prompt, canonical_solution, test: tests }) => [
        prompt + canonical_solution,
        tests,
      ]);
      expect(sources.map(asWeRead)).toEqual(asPythonReads(sources));
    },
  );
});

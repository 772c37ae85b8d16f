import { defined, invalidRow } from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { FunctionTest, ProblemTask, Stub } from "../problem/problem.ts";
import { bodyStatements, isDefinition, topStatements } from "../python/statements.ts";
import { type Example, examplesOf } from "./examples.ts";
import { passesFunction } from "./function-arguments.ts";
import { isShown } from "./shown-tests.ts";
import { splitCheck } from "./split-check.ts";

/** Row of HumanEval (Chen et al., 2021). */
export const humanEvalSchema = z.object({
  task_id: z.union([z.string(), z.number()]).optional(),
  prompt: z.string().min(1),
  entry_point: z.string().regex(/^[^\W\d]\w*$/u, "must be the name of a function"),
  canonical_solution: z.string().nullish(),
  test: z.string().min(1),
});

/** Reads a row. Throws DATA_INVALID if its code does not have the form that its fields require. */
export function fromHumanEval(row: z.output<typeof humanEvalSchema>, place: Place): ProblemTask {
  const { task_id, entry_point: entryPoint } = row;
  const prompt = row.prompt.replaceAll("\r\n", "\n");
  const stub = stubOf(prompt, entryPoint);
  if (stub === undefined)
    throw invalidRow(
      place,
      `the prompt does not define ${entryPoint}`,
      "It is Python up to where the body of the function begins.",
    );
  const split = splitCheck(row.test.replaceAll("\r\n", "\n"));
  if (split === undefined)
    throw invalidRow(
      place,
      "the test has no function check(candidate) that asserts something about the candidate",
      "Its body begins on a line of its own.",
    );
  const passing = passesFunction(split);
  if (passing !== undefined)
    throw invalidRow(
      place,
      `a test hands a function to ${entryPoint}, and only plain data reaches a submission: ${passing.slice(0, 200)}`,
      "Leave this row out.",
    );
  const body = row.canonical_solution?.replaceAll("\r\n", "\n");
  if (typeof body === "string" && topStatements(prompt + body) === undefined)
    throw invalidRow(place, "the canonical solution does not continue the prompt");
  const hasReference = typeof body === "string";
  const counted = split.tests.map((code): FunctionTest => {
    const shown = code.replaceAll(new RegExp(`\\b${split.parameter}\\b`, "g"), entryPoint);
    return { shown, code, visible: isShown(shown, entryPoint, prompt), counted: true };
  });
  const isTested = ({ call }: Example): boolean =>
    counted.some(({ visible, shown }) => visible && shown.includes(call));
  const examples = examplesOf(stub.head, entryPoint)
    .filter((example) => !isTested(example))
    .map(({ call, expected }): FunctionTest => ({
      shown: `${call} should be ${expected}`,
      code: `_example(${JSON.stringify(call)}, ${JSON.stringify(expected)})`,
      visible: true,
      counted: false,
    }));
  return {
    public: { question: prompt, entry_point: entryPoint, ...defined({ task_id }) },
    problem: {
      kind: "function",
      language: "python",
      entryPoint,
      stub,
      reference: hasReference ? stub.head + body : null,
      harness: harnessOf({
        entryPoint,
        parameter: split.parameter,
        program: hasReference ? prompt + body : promptAlone(prompt, entryPoint),
        hasReference,
        setUp: split.setUp,
      }),
      tests: [...examples, ...counted],
    },
  };
}

/** Splits a prompt of HumanEval into the last definition of the function and the code before it. Returns `undefined` without a definition. */
function stubOf(prompt: string, entryPoint: string): Stub | undefined {
  const definition = topStatements(prompt)?.findLast((statement) => isDefinition(statement, entryPoint));
  if (definition === undefined) return undefined;
  const start = (definition.lines[0] as { start: number }).start;
  return { preamble: prompt.slice(0, start), head: prompt.slice(start), tail: "" };
}

/** Completes a prompt to a program: adds a body if it ends at the head of the function. */
function promptAlone(prompt: string, entryPoint: string): string {
  return prompt.trimEnd().endsWith(":") && bodyStatements(prompt, entryPoint) === undefined
    ? `${prompt.trimEnd()}\n    pass\n`
    : prompt;
}

/** Input of the checker of a HumanEval problem. */
interface HarnessParts {
  readonly entryPoint: string;
  /** Name of the function in the tests. */
  readonly parameter: string;
  /** Prompt, followed by the reference solution if there is one. */
  readonly program: string;
  readonly hasReference: boolean;
  /** Code around `check`. */
  readonly setUp: string;
}

/**
 * Returns the set-up code of the checker. Helpers that tests use (`poly`, `encode_shift`) are those of the prompt, never of the submission, and so is the entry
 * point if a test compares it with the candidate. They have their own namespace, because tests may use names of builtins.
 */
function harnessOf({ entryPoint, parameter, program, hasReference, setUp }: HarnessParts): string {
  const entry = JSON.stringify(entryPoint);
  return [
    "import random",
    `_candidate = ${entryPoint}`,
    `_prompt = {"__name__": "prompt"}`,
    `exec(${JSON.stringify(program)}, _prompt)`,
    `globals().update({name: value for name, value in _prompt.items() if not name.startswith("__")${hasReference ? "" : ` and name != ${entry}`}})`,
    `${parameter} = _candidate`,
    "def _example(call, expected):",
    `    value = lambda function: eval(call, {**_prompt, ${entry}: function})`,
    "    try:",
    "        wanted = eval(expected, dict(_prompt))",
    ...(hasReference ? [`        if value(_prompt[${entry}]) != wanted:`, "            return"] : []),
    "    except Exception:",
    "        return",
    "    returned = value(_candidate)",
    `    assert returned == wanted, "it returned " + repr(returned)`,
    setUp,
  ].join("\n");
}

import { defined, invalidRow } from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { FunctionTest, ProblemTask } from "../problem/problem.ts";
import { topStatements } from "../python/statements.ts";
import { type Example, examplesOf } from "./examples.ts";
import { passesFunction } from "./function-arguments.ts";
import { harnessOf } from "./harness.ts";
import { isShown } from "./shown-tests.ts";
import { splitCheck } from "./split-check.ts";
import { promptAlone, stubOf } from "./stub.ts";

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

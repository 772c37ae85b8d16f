import {
  type Demonstration,
  type EnvironmentContext,
  MrlmError,
  SINGLE_AGENT,
  taskById,
  type TaskId,
  textMessage,
} from "@mrlm/kit";
import type { CodeOptions } from "./options.ts";
import { type Problem, problemOf } from "./problem/problem.ts";
import { placed, promptOf } from "./prompt.ts";

/** Returns the problem with its reference solution: a function without its documentation, in the terse style only its body. Throws DATA_INVALID for a row without a solution. */
export async function demonstrate(
  context: EnvironmentContext,
  options: CodeOptions,
  id: TaskId,
): Promise<Demonstration> {
  const task = await taskById(context.tasks, id);
  const problem = problemOf(task);
  const answer = referenceAnswer(problem, options);
  if (answer === undefined)
    throw new MrlmError("DATA_INVALID", `Task ${id} has no reference solution to demonstrate.`, {
      hint: "Give its row a `canonical_solution` or `solution`, or train without demonstrations.",
    });
  return { task: id, agent: SINGLE_AGENT, messages: [...promptOf(task, options), textMessage("assistant", answer)] };
}

/** Returns the response with the reference solution; `undefined` without a reference. */
export function referenceAnswer(problem: Problem, options: CodeOptions): string | undefined {
  const { reference } = problem;
  if (reference === null) return undefined;
  if (problem.kind === "program") return placed(reference, options);
  if (options.style === "prose") return placed(withoutDocumentation(reference, problem.stub.head), options);
  const body = reference.slice(problem.stub.head.length, reference.length - problem.stub.tail.length);
  return placed(dedented(body), options);
}

/** Leaves the documentation in the head of a function out: the prompt has it, and a policy that learns to repeat it spends most of its tokens on that. */
function withoutDocumentation(reference: string, head: string): string {
  if (!reference.startsWith(head)) return reference;
  const short = head.replace(/^ *"""[\s\S]*?"""\n|^ *\/\*\*[\s\S]*?\*\/\n/m, "");
  return short + reference.slice(head.length);
}

/** Removes the indentation of a body if it is not needed: fewer characters for a small model. */
function dedented(body: string): string {
  const lines = body.trimEnd().split("\n");
  return lines.every((line) => line.startsWith("    "))
    ? lines.map((line) => line.slice(4)).join("\n")
    : lines.join("\n");
}

import type { JsonObject, JsonValue, Task } from "@mrlm/kit";

/** Languages of solutions. */
export const LANGUAGES = ["python", "typescript"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Sandbox of each language. */
export const SANDBOXES: Readonly<Record<Language, string>> = { python: "python", typescript: "javascript" };

/** Test of a function: statements that raise an error if the function fails. */
export interface FunctionTest {
  /** Text of the test in feedback. */
  readonly shown: string;
  readonly code: string;
  /** Whether feedback may name it. */
  readonly visible: boolean;
  /** Whether it counts for the reward; examples of a docstring are for feedback only. */
  readonly counted: boolean;
}

/** Code around a solution. */
export interface Stub {
  /** Imports and helpers that solutions may use. */
  readonly preamble: string;
  /** Head of the function, up to its body. */
  readonly head: string;
  /** Code after the body. */
  readonly tail: string;
}

/** Problem: a function to write. */
export interface FunctionProblem {
  readonly kind: "function";
  readonly language: Language;
  readonly entryPoint: string;
  readonly stub: Stub;
  /** Whole solution without the preamble. */
  readonly reference: string | null;
  /** Set-up code of the checker. */
  readonly harness: string;
  /** Visible tests first, so that hidden ones cannot affect the feedback on visible ones. */
  readonly tests: readonly FunctionTest[];
}

/** Test of a program: one run. */
export interface ProgramTest {
  readonly input: string;
  readonly output: string;
  readonly visible: boolean;
}

/** Problem: a program to write that reads standard input and writes standard output. */
export interface ProgramProblem {
  readonly kind: "program";
  readonly language: Language;
  readonly reference: string | null;
  readonly tests: readonly ProgramTest[];
  /** Largest difference, absolute or relative, at which numbers in the output are equal; 0 compares texts. */
  readonly tolerance: number;
}

export type Problem = FunctionProblem | ProgramProblem;

/** Problem with its public fields. */
export interface ProblemTask {
  /** Public fields of the task: the question and facts about it. */
  readonly public: JsonObject & { readonly question: string };
  readonly problem: Problem;
}

/** Converts a problem to the public and private fields of a task. */
export function sealed({ public: shown, problem }: ProblemTask): Omit<Task, "id"> {
  const { kind, language } = problem;
  return {
    public: { ...shown, kind, language, visible_tests: visibleTests(problem) },
    private: problem as unknown as JsonObject,
  };
}

function visibleTests(problem: Problem): JsonValue {
  if (problem.kind === "function") return problem.tests.filter(({ visible }) => visible).map(({ shown }) => shown);
  return problem.tests.filter(({ visible }) => visible).map(({ input, output }) => ({ input, output }));
}

/** Reads the problem from the private fields of a task. */
export function problemOf(task: Task): Problem {
  return task.private as unknown as Problem;
}

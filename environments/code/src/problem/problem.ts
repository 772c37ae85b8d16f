import type { JsonObject, JsonValue, Task } from "@mrlm/spec";

/** Languages that solutions can be written in. */
export const LANGUAGES = ["python", "typescript"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The sandbox that runs each. */
export const SANDBOXES: Readonly<Record<Language, string>> = { python: "python", typescript: "javascript" };

/** A test of a function: statements that raise when it fails. */
export interface FunctionTest {
  /** For people, where the test may be shown. */
  readonly shown: string;
  readonly code: string;
  /** Whether feedback may name it. */
  readonly visible: boolean;
  /** Whether it counts for the reward; examples of a docstring are for feedback only. */
  readonly counted: boolean;
}

/** What stands around a solution. */
export interface Stub {
  /** Imports and helpers that solutions may use. */
  readonly preamble: string;
  /** Head of the function, up to where its body begins. */
  readonly head: string;
  /** What closes it. */
  readonly tail: string;
}

/** A function to write. */
export interface FunctionProblem {
  readonly kind: "function";
  readonly language: Language;
  readonly entryPoint: string;
  readonly stub: Stub;
  /** A whole solution, without the preamble. */
  readonly reference: string | null;
  /** Set-up code of the checker. */
  readonly harness: string;
  /** Visible ones first, so that nothing seen in a hidden test can change what is said of a visible one. */
  readonly tests: readonly FunctionTest[];
}

/** A run of a program. */
export interface ProgramTest {
  readonly input: string;
  readonly output: string;
  readonly visible: boolean;
}

/** A program to write, which reads standard input and writes standard output. */
export interface ProgramProblem {
  readonly kind: "program";
  readonly language: Language;
  readonly reference: string | null;
  readonly tests: readonly ProgramTest[];
  /** Largest difference, absolute or relative, at which numbers in the output are equal; 0 compares texts. */
  readonly tolerance: number;
}

export type Problem = FunctionProblem | ProgramProblem;

/** A problem as tasks have it: what may be shown to anybody, and the rest. */
export interface ProblemTask {
  /** The question, and what is known about it. */
  readonly public: JsonObject & { readonly question: string };
  readonly problem: Problem;
}

/** The two sides of a task. */
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

/** The private side of a task, read back. */
export function problemOf(task: Task): Problem {
  return task.private as unknown as Problem;
}

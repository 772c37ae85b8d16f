import { defined, type JsonValue, MrlmError, type Scorer } from "@mrlm/kit";
import { gradeBy, gradeOf, unscoredGrade } from "./grade.ts";

/** Result of promptfoo, of all assertions or of one. */
interface GradingResult {
  readonly score: number;
  readonly reason: string;
  readonly namedScores?: Readonly<Record<string, number>> | undefined;
  readonly componentResults?: readonly GradingResult[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** `assertions` of promptfoo. */
interface Assertions<Test> {
  runAssertions(input: {
    readonly test: Test;
    readonly prompt?: string;
    readonly providerResponse: { readonly output: string };
  }): Promise<GradingResult>;
}

/** Test of promptfoo with the assertions. */
interface AssertedTest {
  readonly assert?: readonly (AssertedTest & { readonly type?: string })[] | undefined;
  readonly vars?: object | undefined;
}

/** Beginnings of the reasons of assertions that failed themselves. promptfoo marks the other failures. */
const FAILURES = [
  "Could not perform remote grading:",
  "Custom function threw error:",
  "Python code execution failed:",
  "Ruby code execution failed:",
  "Search rubric evaluation failed:",
  "Webhook error:",
];

/** Assertions whose failures look like wrong answers, and assertions that compare several outputs. */
const UNSUPPORTED =
  /^(not-)?(similar(:.*)?|classifier|(model-graded-)?factuality|model-graded-closedqa|answer-relevance|context-\w+|select-best|max-score)$/;

/**
 * Returns the Scorer of assertions of promptfoo. `assertions` is what its package exports. The reward is the weighted mean of their scores; those with a `metric`
 * are components. The variables `question` and `expected`, and the options of a request, stand beside those of the test. If an assertion fails itself, the
 * answer is unscored. A score outside 0 to 1 is thrown as SCORER_FAILED.
 */
export function fromPromptfoo<Test extends AssertedTest>(assertions: Assertions<Test>, test: Test): Scorer {
  checkTypes(typesOf(test));
  return {
    async score(request) {
      return await gradeBy(request, async () => {
        const { answer, expected, question, options } = request;
        const vars: Record<string, JsonValue> = { ...test.vars, ...options, ...defined({ question }), expected };
        const result = await assertions.runAssertions({
          test: { ...test, vars },
          providerResponse: { output: answer },
          ...defined({ prompt: question }),
        });
        const failed = failureOf(result);
        if (failed !== undefined) return unscoredGrade(`An assertion failed: ${failed}`);
        return gradeOf("promptfoo", result.score, { reason: result.reason, components: result.namedScores ?? {} });
      });
    },
  };
}

/** Returns the types of the assertions, also of those in sets. */
function typesOf({ assert = [] }: AssertedTest): string[] {
  return assert.flatMap((each) => (each.assert === undefined ? [each.type ?? ""] : typesOf(each)));
}

function checkTypes(types: readonly string[]): void {
  if (types.length === 0)
    throw new MrlmError("OPTIONS_INVALID", "The test of promptfoo has no assertions, by which every answer is right.", {
      hint: "Give it assertions in `assert`.",
    });
  const unsupported = types.find((type) => UNSUPPORTED.test(type));
  if (unsupported !== undefined)
    throw new MrlmError(
      "OPTIONS_INVALID",
      `The assertion "${unsupported}" of promptfoo has no reward: it compares outputs, or a failure of its model is a score of 0.`,
      { hint: "Use llm-rubric or g-eval, or a scorer of autoevals with `fromScorer`." },
    );
}

/** Returns the reason of the first assertion that failed itself. */
function failureOf({ reason, metadata, componentResults = [] }: GradingResult): string | undefined {
  if (metadata?.["graderError"] === true || FAILURES.some((failure) => reason.startsWith(failure))) return reason;
  return componentResults.map(failureOf).find((failure) => failure !== undefined);
}

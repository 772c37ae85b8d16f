import type { Scorer } from "@mrlm/kit";
import { gradeBy, gradeOf, unscoredGrade } from "./grade.ts";

/** Input of a scorer. Members of the options of a request stand beside these. */
// Each scorer has optional input of its own, of types that only its package has.
// oxlint-disable-next-line typescript/no-explicit-any
type Input = { input: string; output: string; expected: string } & Record<string, any>;

/** Result of a scorer. With a score of null, or with `error`, there is no score. */
interface Result {
  readonly name?: string;
  readonly score: number | null;
  readonly metadata?: unknown;
  readonly error?: unknown;
}

type Evaluate = (input: Input) => number | null | Result | Promise<number | null | Result>;

/**
 * Returns the Scorer of a scorer of autoevals or evalite, or of another function of this form: `input` is the question, `output` the answer. A score of null
 * and an error of the scorer are unscored. A score outside 0 to 1 is thrown as SCORER_FAILED.
 */
export function fromScorer(scorer: Evaluate | { readonly name: string; readonly scorer: Evaluate }): Scorer {
  const evaluate = typeof scorer === "function" ? scorer : scorer.scorer;
  return {
    async score(request) {
      return await gradeBy(request, async () => {
        const { answer, expected, question = "", options } = request;
        const returned = await evaluate({ ...options, input: question, output: answer, expected });
        const result: Result = typeof returned === "object" && returned !== null ? returned : { score: returned };
        const { name = scorer.name || "score", score, metadata, error } = result;
        if (error !== undefined && error !== null) return unscoredGrade(`${name} failed: ${String(error)}`);
        if (score === null) return unscoredGrade(`${name} returned no score: ${JSON.stringify(metadata ?? null)}`);
        return gradeOf(name, score, {
          reason: rationaleOf(metadata) ?? `${name}: ${score}`,
          components: { [name]: score },
        });
      });
    },
  };
}

/** Returns the reasons of a model that autoevals asked. */
function rationaleOf(metadata: unknown): string | undefined {
  const rationale = (metadata as { readonly rationale?: unknown } | undefined)?.rationale;
  return typeof rationale === "string" ? rationale : undefined;
}

/** Scorer `math@2`: the verifier as an implementation of the scorer interface. */
import {
  defined,
  type Grade,
  type JsonObject,
  type Reward,
  score,
  type Scorer,
  type ScoreRequest,
  unscored,
} from "@mrlm/kit";
import type { VerifyOptions } from "./options.ts";
import { isAnswerForm } from "./form/form.ts";
import { verify, type Verification } from "./verify.ts";

export type MathScorerOptions = Omit<VerifyOptions, "question">;

/**
 * Grades by `verify`: 1 for an equivalent answer in its form, unscored for a reference that cannot be read, else 0. With a
 * `schema` the answer has to stand in that place, unless `options.mode` is `lenient`.
 */
export class MathScorer implements Scorer {
  readonly #options: MathScorerOptions;

  constructor(options: MathScorerOptions = {}) {
    this.#options = options;
    warmUp();
  }

  async score(request: ScoreRequest): Promise<Grade> {
    const given = optionsOf(request.options);
    const schema = request.schema ?? this.#options.schema;
    const options: VerifyOptions = {
      ...this.#options,
      question: request.question,
      ...(schema === undefined ? {} : { schema, mode: this.#options.mode ?? "strict" }),
      ...given,
    };
    const result = verify(request.expected, request.answer, options);
    const { verdict, reason, extracted } = result;
    return {
      reward: rewardOf(result),
      verdict,
      reason,
      detail: { method: result.method, expected: result.expected, answer: result.answer, work: result.work },
      ...defined({ extracted }),
    };
  }
}

/** One pair for each way of deciding. */
const TYPICAL: readonly (readonly [expected: string, answer: string])[] = [
  ["#### 1,800", "So the answer is $1800."],
  ["$\\frac{1}{\\sqrt{2}}$", "Thus $\\boxed{\\frac{\\sqrt{2}}{2}}$."],
  ["$\\arctan 2 + \\arctan 3$", "$\\frac{3\\pi}{4}$"],
  ["$x^2 - 3x + 2 > 0$", "$(-\\infty, 1) \\cup (2, \\infty)$"],
  ["$\\{(1, 2), (3, 4)\\}$", "x = 1, y = 2 or x = 3, y = 4"],
  ["5 km/h", "\\boxed{5000\\text{ m/h}}"],
];
let isWarm = false;

/** Compiles regular expressions and code on first use, while plugins are loaded and no episode waits. */
function warmUp(): void {
  if (isWarm) return;
  isWarm = true;
  for (const [expected, answer] of TYPICAL) verify(expected, answer);
}

function rewardOf({ verdict, reason }: Verification): Reward {
  if (verdict === "bad-reference") return unscored("SCORER_REFERENCE_INVALID", reason);
  return score(Number(verdict === "equivalent"), { correct: Number(verdict === "equivalent") });
}

/** Returns the options of a request that the verifier knows; others belong to other graders of the same data. */
function optionsOf(options: JsonObject = {}): MathScorerOptions {
  const { precision, tolerance, strict, allow_set_relation_comp, mode, form } = options;
  return {
    ...(typeof precision === "number" ? { precision } : {}),
    ...(typeof tolerance === "number" ? { tolerance } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(typeof allow_set_relation_comp === "boolean" ? { allow_set_relation_comp } : {}),
    ...(mode === "strict" || mode === "lenient" ? { mode } : {}),
    ...(isAnswerForm(form) ? { form } : {}),
  };
}

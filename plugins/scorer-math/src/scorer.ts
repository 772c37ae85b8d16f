/** Scorer `math@2`: the verifier as an implementation of the scorer interface. */
import { score, unscored, type Grade, type JsonObject, type Reward, type ScoreRequest, type Scorer } from "@mrlm/spec";
import type { VerifyOptions } from "./options.ts";
import { verify, type Verification } from "./verify.ts";

export type MathScorerOptions = VerifyOptions & {
  /** The reward of an undecided answer. Without it the answer is unscored. */
  readonly undecided?: number | undefined;
};

/**
 * Grades by `verify`: 1 for equivalent, 0 for different, unscored (or `options.undecided`) for undecided. With a
 * `schema` the answer has to stand in that form, unless `options.mode` is `lenient`.
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
    const options: MathScorerOptions = {
      ...this.#options,
      ...(schema === undefined ? {} : { schema, mode: this.#options.mode ?? "strict" }),
      ...given,
    };
    const result = verify(request.expected, request.answer, options);
    const { verdict, reason, extracted } = result;
    return {
      reward: rewardOf(result, options.undecided),
      verdict,
      reason,
      detail: { method: result.method, expected: result.expected, answer: result.answer, work: result.work },
      ...(extracted === undefined ? {} : { extracted }),
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

function rewardOf({ verdict, reason }: Verification, penalty: number | undefined): Reward {
  if (verdict === "equivalent") return score(1, { correct: 1 });
  if (verdict === "different") return score(0, { correct: 0 });
  return penalty === undefined ? unscored("SCORER_UNDECIDED", reason) : score(penalty, { correct: 0, undecided: 1 });
}

/** Returns the options of a request that the verifier knows; others belong to other graders of the same data. */
function optionsOf(options: JsonObject = {}): MathScorerOptions {
  const { precision, tolerance, strict, allow_set_relation_comp, mode, undecided } = options;
  return {
    ...(typeof precision === "number" ? { precision } : {}),
    ...(typeof tolerance === "number" ? { tolerance } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(typeof allow_set_relation_comp === "boolean" ? { allow_set_relation_comp } : {}),
    ...(mode === "strict" || mode === "lenient" ? { mode } : {}),
    ...(typeof undecided === "number" ? { undecided } : {}),
  };
}

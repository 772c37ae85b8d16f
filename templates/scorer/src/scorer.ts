import { type Grade, score, type Scorer, type ScoreRequest, unscored } from "@mrlm/kit";
import { z } from "zod";

/** Options of the plugin, in the section `plugins` of a configuration. */
export const options = z
  .strictObject({
    tolerance: z.number().min(0).max(0.5).default(0).describe("Largest relative error of a right answer"),
  })
  .prefault({});
type Options = z.output<typeof options>;

const NUMBER = /^[+-]?\d{1,15}(\.\d{1,15})?$/;

/**
 * Returns a scorer of numbers. It never throws. An answer that it cannot read is wrong; a correct answer that it cannot read is unscored, which training leaves
 * out: the policy did not cause it.
 */
export function numberScorer({ tolerance }: Options): Scorer {
  const grade = ({ answer, expected }: ScoreRequest): Grade => {
    const wanted = expected.trim();
    if (!NUMBER.test(wanted)) {
      const reason = `The correct answer ${JSON.stringify(wanted.slice(0, 40))} is no number.`;
      return { reward: unscored("SCORER_REFERENCE_INVALID", reason), verdict: "bad-reference", reason };
    }
    const given = answer.trim();
    if (!NUMBER.test(given))
      return { reward: score(0, { correct: 0 }), verdict: "unreadable", reason: "The answer is no number." };
    const error = Math.abs(Number(given) - Number(wanted));
    const correct = Number(error <= tolerance * Math.abs(Number(wanted)));
    return {
      reward: score(correct, { correct }),
      verdict: correct === 1 ? "equivalent" : "different",
      // It goes to clients with the episode, so it does not help to find the correct answer.
      reason: correct === 1 ? "The error is within the tolerance." : "The error is larger than the tolerance.",
      extracted: given,
    };
  };
  return { score: async (request) => grade(request) };
}

import { definePlugin } from "@mrlm/kit";
import { score, unscored } from "@mrlm/spec";
import { lettersEnvironment, type LettersReward } from "@mrlm/testing";

/** A reward that random letters differ in: the share of even code points. */
const evenness: LettersReward = (text) =>
  score(
    text.length === 0
      ? 0
      : [...text].filter((letter) => (letter.codePointAt(0) as number) % 2 === 0).length / text.length,
    { length: text.length },
  );

/** `letters@1`, and `talk@1`, which has three turns, each with a reward, and now and then an episode that fails or is not scored. */
export const fuzzEnvironments = definePlugin({
  name: "fuzz-environments",
  environments: [
    lettersEnvironment({ reward: evenness, demonstration: "24 bd" }),
    lettersEnvironment({
      id: "talk@1",
      turns: 3,
      tasks: 40,
      demonstration: "bdf",
      reward(text, task) {
        if (text.startsWith("!")) throw new Error("no answer may begin with an exclamation mark");
        return text.startsWith("?") ? unscored("SCORER_FAILED", "a question is no answer") : evenness(text, task);
      },
    }),
  ],
});

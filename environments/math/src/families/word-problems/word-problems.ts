import type { Family } from "../problem.ts";
import { TEMPLATES } from "./templates.ts";

/** Stories with a question. Higher difficulty: larger numbers, one unused fact from difficulty 4, two from 7. */
export const wordProblems: Family = {
  name: "word_problems",
  generate(random, difficulty) {
    const story = random.pick(TEMPLATES)(random, 3 * difficulty);
    const needless = random.shuffle(story.distractors).slice(0, difficulty < 4 ? 0 : difficulty < 7 ? 1 : 2);
    const sentences = [...story.sentences];
    // The first sentence introduces the subject and stays first.
    for (const sentence of needless) sentences.splice(random.integer(1, sentences.length), 0, sentence);
    return {
      prose: [...sentences, story.question].join(" "),
      terse: story.expression,
      answer: story.answer,
      steps: story.steps,
      compare: "value",
    };
  },
};

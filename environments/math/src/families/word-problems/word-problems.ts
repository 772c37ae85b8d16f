import type { Family } from "../problem.ts";
import { TEMPLATES } from "./templates.ts";

/** Stories with a question: larger numbers with rising difficulty, one needless fact from difficulty 4 on and two from 7 on. */
export const wordProblems: Family = {
  name: "word_problems",
  generate(random, difficulty) {
    const story = random.pick(TEMPLATES)(random, 3 * difficulty);
    const needless = random.shuffle(story.distractors).slice(0, difficulty < 4 ? 0 : difficulty < 7 ? 1 : 2);
    const told = [...story.sentences];
    // After the first sentence, which says what it is about.
    for (const sentence of needless) told.splice(random.integer(1, told.length), 0, sentence);
    return {
      prose: [...told, story.question].join(" "),
      terse: story.expression,
      answer: story.answer,
      steps: story.steps,
      compare: "value",
    };
  },
};

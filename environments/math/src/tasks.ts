import { generatedTasks, type TaskSource } from "@mrlm/kit";
import { pickDifficulty, pickFamily } from "@mrlm/kit/options";
import { FAMILIES } from "./families/index.ts";
import { mixtureAt } from "./mixture.ts";
import type { MathOptions } from "./options.ts";
import { sealed } from "./solution.ts";
import { taskKey } from "./task-key.ts";

/** Share of all problems that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Returns generated problems of the configured families and difficulties. */
export function mathTasks(options: MathOptions): TaskSource {
  const tasks = generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random, at) {
      const { families, range } = mixtureAt(options, at);
      const family = FAMILIES[pickFamily(random, families)];
      const difficulty = pickDifficulty(random, range);
      const problem = family.generate(random, difficulty);
      return {
        key: taskKey(problem.terse),
        public: {
          family: family.name,
          difficulty,
          question: options.style === "terse" ? problem.terse : problem.prose,
        },
        private: sealed(problem),
      };
    },
  });
  return options.curriculum.length === 0 ? tasks : { ...tasks, orderedSplits: ["train"] };
}

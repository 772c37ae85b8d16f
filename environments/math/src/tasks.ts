import { generatedTasks, type TaskSource } from "@mrlm/kit";
import { pickDifficulty, pickFamily } from "@mrlm/kit/options";
import { FAMILIES } from "./families/index.ts";
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

/** Families and difficulties at one index of a split. */
interface Mixture {
  readonly families: MathOptions["families"];
  readonly range: MathOptions["difficulty_range"];
}

/**
 * Returns the mixture at an index: that of the stage of the curriculum in the training split, else that of the options. It depends only on the index, so that a
 * resumed run has the tasks of an uninterrupted one.
 */
function mixtureAt(
  options: MathOptions,
  { split, index }: { readonly split: string; readonly index: number },
): Mixture {
  const { families, difficulty_range: range } = options;
  if (split !== "train") return { families, range: options.eval_difficulty_range ?? range };
  let end = 0;
  const stage = options.curriculum.find(({ tasks }) => index < (end += tasks));
  return { families: stage?.families ?? families, range: stage?.difficulty_range ?? range };
}

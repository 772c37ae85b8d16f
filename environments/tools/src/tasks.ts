import { defined, generatedTasks, type TaskSource } from "@mrlm/kit";
import { pickDifficulty, pickFamily } from "@mrlm/kit/options";
import { GENERATORS } from "./generators/index.ts";
import type { ToolsOptions } from "./options.ts";
import { jsonOf } from "./task.ts";

/** Share of all tasks that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Returns generated tasks of the configured families and difficulties. */
export function toolsTasks(options: ToolsOptions): TaskSource {
  const { difficulty_range, eval_difficulty_range = difficulty_range } = options;
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random, { split }) {
      const family = pickFamily(random, options.families);
      const difficulty = pickDifficulty(random, split === "eval" ? eval_difficulty_range : difficulty_range);
      const { prose, terse, answer, required, files, site, plan } = GENERATORS[family].generate(random, difficulty);
      return {
        key: prose,
        public: {
          family,
          difficulty,
          ...jsonOf({ question: options.style === "terse" ? terse : prose, required_tools: required }),
        },
        private: jsonOf({
          answer,
          ...defined({ files, site }),
          plan,
        }),
      };
    },
  });
}

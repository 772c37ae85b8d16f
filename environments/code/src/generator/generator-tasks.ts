import { generatedTasks, type TaskSource } from "@mrlm/kit";
import { pickDifficulty, pickFamily } from "@mrlm/kit/options";
import type { CodeOptions } from "../options.ts";
import { sealed } from "../problem/problem.ts";
import { FAMILIES, FAMILY_NAMES } from "./families/index.ts";
import { generatedProblem } from "./generated-problem.ts";

/** Share of all problems that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Returns generated problems of the configured families and difficulties. */
export function generatorTasks(options: CodeOptions): TaskSource {
  const {
    families = FAMILY_NAMES,
    difficulty_range: range = [1, 5],
    eval_difficulty_range: evalRange = range,
  } = options;
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size ?? 100_000, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size ?? 1_000, share: EVAL_SHARE },
    },
    generate(random, { split }) {
      const family = FAMILIES[pickFamily(random, families)];
      const difficulty = pickDifficulty(random, split === "train" ? range : evalRange);
      const { key, ...task } = generatedProblem(random, {
        family,
        difficulty,
        language: options.language,
        style: options.style,
        tests: options.tests ?? 13,
        visibility: options.visible_tests,
      });
      return { key, ...sealed(task) };
    },
  });
}

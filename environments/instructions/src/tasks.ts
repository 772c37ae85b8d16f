import { generatedTasks, type RandomStream, type TaskSource } from "@mrlm/kit";
import { pickDifficulty } from "@mrlm/kit/options";
import { drawSelection, drawTerse, selectedOf } from "./items.ts";
import type { InstructionsOptions } from "./options.ts";
import { drawInstructions, type InstructionTask } from "./task.ts";

/** Share of all tasks that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Sizes of levels 1 to 5. `more` counts the instructions beside the form. */
const LEVELS = [
  { items: 4, conditions: 1, more: 0 },
  { items: 5, conditions: 1, more: 1 },
  { items: 6, conditions: 2, more: 2 },
  { items: 8, conditions: 2, more: 3 },
  { items: 12, conditions: 3, more: 4 },
] as const;

/** Returns seeded tasks. Tasks with the same items, demand and instructions are one, in whatever order the items stand. */
export function instructionTasks(options: InstructionsOptions): TaskSource<InstructionTask> {
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random) {
      const level = pickDifficulty(random, options.levels);
      const task = options.style === "terse" ? drawTerseTask(random, level) : drawTask(random, level, options);
      const { items, conditions, order, instructions } = task;
      const key = JSON.stringify([sorted(items), sorted(conditions), order, instructions]);
      return { public: task, private: {}, key };
    },
  });
}

function drawTask(random: RandomStream, level: number, { forms }: InstructionsOptions): InstructionTask {
  const size = LEVELS[level - 1] as (typeof LEVELS)[number];
  const selection = drawSelection(random, size);
  const { length: selected } = selectedOf(selection);
  return {
    ...selection,
    instructions: drawInstructions(random, { form: random.pick(forms), level, more: size.more, selected }),
  };
}

/** Draws a task of small models: a line of letters. */
function drawTerseTask(random: RandomStream, level: number): InstructionTask {
  return {
    ...drawTerse(random, level + 2),
    instructions: {
      line: { separator: random.pick([",", ";", "|"]), open: "", close: "" },
      casing: level === 1 ? "small" : random.pick(["small", "capital"] as const),
    },
  };
}

function sorted(values: readonly unknown[]): string[] {
  return values.map((value) => JSON.stringify(value)).toSorted();
}

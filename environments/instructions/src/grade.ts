import { type Reward, score } from "@mrlm/kit";
import { wordsOf } from "./instruction.ts";
import { selectedOf } from "./items.ts";
import { formOf, type InstructionTask, statedIn } from "./task.ts";

/** Part of the reward that an answer with the right items and not all instructions can earn. */
const PARTS = 0.5;
/** Length of a run of words that is copied from the task. */
const RUN = 6;

/**
 * Returns the reward of an answer: 1 if it names the right items, and no others, and follows all instructions. With the right items alone it is
 * {@link PARTS} times the share of instructions that it follows; else 0, so that no instruction pays without the task.
 */
export function grade(text: string, task: InstructionTask, question: string): Reward {
  const { instructions, items } = task;
  const selected = selectedOf(task);
  const all = text.split("\n");
  const body = all.slice(instructions.first === undefined ? 0 : 1, instructions.last === undefined ? all.length : -1);
  const isContent = namesOf(text, items) === namesOf(selected.map(({ name }) => name).join(" "), items);
  const isCopied = formOf(instructions) === "prose" && hasRunOf(body.join(" "), question);
  const stated = statedIn(instructions);
  const kept = stated.filter(({ holds }) => holds({ text, body, items: selected })).length / stated.length;
  if (!isContent || isCopied) return score(0, { correct: 0, content: 0, instructions: kept });
  const correct = Number(kept === 1);
  return score(correct === 1 ? 1 : PARTS * kept, { correct, content: 1, instructions: kept });
}

/** Returns the names of items in a text, in their order, as often as they stand there. */
function namesOf(text: string, items: InstructionTask["items"]): string {
  const names = new Set(items.map(({ name }) => name));
  return wordsOf(text)
    .filter((word) => names.has(word))
    .join();
}

/** Whether a text has a run of {@link RUN} words of another. */
function hasRunOf(text: string, other: string): boolean {
  const [words, all] = [wordsOf(text), ` ${wordsOf(other).join(" ")} `];
  return words.some((_, i) => i + RUN <= words.length && all.includes(` ${words.slice(i, i + RUN).join(" ")} `));
}

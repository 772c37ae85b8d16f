import type { InstructionsOptions } from "./options.ts";
import { describeCondition } from "./items.ts";
import { type InstructionTask, statedIn } from "./task.ts";

/** Returns the question of a task. */
export function questionOf(task: InstructionTask, style: InstructionsOptions["style"]): string {
  const { items, conditions, order, instructions } = task;
  if (style === "terse") {
    const [condition] = conditions;
    const { line, casing } = instructions;
    return [
      ...items.map(({ name, price }) => `${name}${price}`),
      `${condition?.is === "more" ? ">" : "<"}${condition?.value}`,
      order === "cheapest first" ? "^" : "v",
      line?.separator,
      casing === "capital" ? "A" : "a",
    ].join("");
  }
  const rows = items.map(({ name, color, city, price }) => `${name}: ${color}, made in ${city}, ${price} coins`);
  return [
    "A shop has these items:",
    ...rows,
    `Take all items that ${conditions.map(describeCondition).join(" and ")}, ${order}.`,
    ...statedIn(instructions).map(({ describe }) => describe()),
  ].join("\n");
}

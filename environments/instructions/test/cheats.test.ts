import { expect, test } from "@jest/globals";
import type { Score } from "@mrlm/kit";
import { grade } from "../src/grade.ts";
import { selectedOf } from "../src/items.ts";
import { instructionsOptions } from "../src/options.ts";
import { questionOf } from "../src/prompt.ts";
import { type InstructionTask, writeAnswer } from "../src/task.ts";
import { instructionTasks } from "../src/tasks.ts";

const TASKS = 200;
const shown: InstructionTask[] = [];
for (const form of ["line", "list", "prose", "json"] as const) {
  const tasks = instructionTasks(instructionsOptions.parse({ forms: [form], levels: [1, 5] }));
  for (let i = 0; i < TASKS / 4; i++) shown.push((await tasks.get("train", i)).public);
}

const names = ({ items }: Pick<InstructionTask, "items">): string[] => items.map(({ name }) => name);
const chosen = (task: InstructionTask): string[] => selectedOf(task).map(({ name }) => name);
const rewardOf = (text: string, task: InstructionTask): number =>
  (grade(text.trim(), task, questionOf(task, "words")) as Score).value;
const words = (task: InstructionTask): number => task.instructions.prose?.least ?? 8;

const CHEATS: readonly (readonly [string, (task: InstructionTask) => string])[] = [
  ["nothing", () => ""],
  ["the question", (task) => questionOf(task, "words")],
  [
    "the question without its items",
    (task) =>
      questionOf(task, "words")
        .split("\n")
        .slice(task.items.length + 1)
        .join("\n"),
  ],
  ["a repeated word", (task) => Array.from({ length: words(task) }, () => "word").join(" ")],
  [
    "sentences of the right length",
    (task) =>
      chosen(task)
        .map(() => `${"abcdefghijk".slice(0, words(task)).split("").join(" ")}.`)
        .join("\n"),
  ],
  ["first and last line alone", ({ instructions: { first = "x", last = "y" } }) => `${first}\n${last}`],
  ["every item", (task) => writeAnswer({ ...task, conditions: [] })],
  ["every item twice", (task) => [...names(task), ...names(task)].join(", ")],
  [
    "the items of the opposite order",
    (task) =>
      writeAnswer({ ...task, order: task.order === "dearest first" ? "cheapest first" : "dearest first" }).replace(
        /^(?=[^]*$)/,
        task.order === "in the order of the alphabet" ? `${names(task).join(" ")} ` : "",
      ),
  ],
  [
    "the right items, and the others after them",
    (task) =>
      `${writeAnswer(task)}\n${names(task)
        .filter((name) => !chosen(task).includes(name))
        .join(" ")}`,
  ],
  ["two answers", (task) => `${writeAnswer(task)}\n${writeAnswer(task)}`],
  ["the first item", (task) => names(task)[0] as string],
  ["an empty JSON value", () => "[]"],
  [
    "the schema",
    (task) =>
      questionOf(task, "words")
        .split("\n")
        .findLast((each) => each.startsWith("{")) ?? "{}",
  ],
];

test.each(CHEATS)("%s earns nothing", (_name, cheat) => {
  expect(shown.map((task) => rewardOf(cheat(task), task)).filter((reward) => reward > 0)).toEqual([]);
});

test("the right items in another form earn at most half, and never the whole", () => {
  const rewards = shown.map((task) => rewardOf(chosen(task).join(" and "), task));
  expect(Math.max(...rewards)).toBeLessThanOrEqual(0.5);
  expect(shown.map((task) => rewardOf(writeAnswer(task), task))).toEqual(shown.map(() => 1));
});

test.each([
  ["a word twice in a sentence", (text: string) => text.replace(/coins/i, "the")],
  ["a second period", (text: string) => text.replace(".", "..")],
  ["a second number", (text: string) => text.replace(/coins/i, "7")],
  ["a word more than allowed", (text: string) => text.replace(/\./, " indeed truly gladly.")],
  ["one sentence fewer", (text: string) => text.replace(/\.[^.]*\.$/, ".")],
] as const)("prose with %s is not right", (_name, change) => {
  const prose = shown.filter(({ instructions: { prose: form, casing } }) => form !== undefined && casing === undefined);
  expect(prose.length).toBeGreaterThan(10);
  const rewards = prose
    .filter(({ instructions: { last } }) => last === undefined)
    .map((task) => rewardOf(change(writeAnswer(task)), task));
  expect(Math.max(...rewards)).toBeLessThan(1);
});

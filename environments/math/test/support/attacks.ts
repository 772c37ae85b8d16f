import { describe, expect, test } from "@jest/globals";
import { placeAnswer, type Task } from "@mrlm/kit";
import { FAMILY_NAMES } from "../../src/families/index.ts";
import { solutionOf } from "../../src/solution.ts";
import { prepare } from "./environment.ts";

/** Returns answers that show no solution: each is worth 0, whatever the task is. */
type Attack = (task: {
  readonly question: string;
  readonly formulas: readonly string[];
  readonly answer: string;
}) => string[];

const attacks: Readonly<Record<string, Attack>> = {
  copied: ({ question, formulas }) => [
    question,
    question.replace(/^.*?:\s*/, ""),
    ...formulas.flatMap((formula) => [
      formula,
      `(${formula})`,
      `$${formula}$`,
      `\\{x \\mid ${formula}\\}`,
      `x = ${formula}`,
      `${formula} = x`,
      `\\{${formula}\\}`,
      formula
        .split(/(?<=[-+*])|(?=[-+*])/)
        .toReversed()
        .join(""),
    ]),
  ],
  operations: ({ formulas, answer }) => {
    const numbers = formulas.join(" ").match(/\d+/g) ?? ["2", "3"];
    const [a = "2", b = "3"] = numbers;
    return [
      `\\gcd(${a},${b})`,
      `${a}^{${b}} \\bmod ${numbers.at(-1)}`,
      `${a} + ${b}`,
      `${a} \\cdot ${b}`,
      ...(`${a}/${b}` === answer ? [] : [`\\frac{${a}}{${b}}`]),
    ].filter((formula) => !formulas.includes(formula));
  },
  listed: ({ answer }) => [
    `917 or 31 or ${answer}`,
    `${answer} or 917 or 31`,
    `${answer}, 123456`,
    "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
    "\\mathbb{R}",
    "[-100000, 100000]",
    "(-\\infty, \\infty)",
    "x",
    "any number",
  ],
  rounded: ({ formulas, answer }) => {
    const magnitude = Number(answer).toPrecision(1);
    const rounded = Number(magnitude) === Number(answer) || magnitude === "NaN" ? "917" : String(Number(magnitude));
    return formulas.flatMap((formula) => [
      `${formula} \\approx ${rounded}`,
      `x = ${formula} \\approx ${rounded}`,
      `${formula} = ${Number(rounded).toExponential()}`,
      `(${formula}) \\text{ m} \\approx 1 \\text{ km}`,
    ]);
  },
  denied: ({ answer }) => [
    `not ${answer}`,
    `It is not ${answer}.`,
    `\\neq ${answer}`,
    `maybe ${answer}`,
    `${answer} or not`,
    `${answer}?`,
  ],
  unreadable: () => [
    "\\square",
    "?=1",
    "5|42",
    "\\not 42",
    "5, i.e. 42",
    "5 <!-- 42 -->",
    "\\def\\x{42}\\x",
    "2^{2^{2^{2^{2^2}}}}",
    "\\sum_{n=1}^{\\infty} n",
    `${"(".repeat(500)}1${")".repeat(500)}`,
    "\ud800",
    "\u0000",
    "1".repeat(5000),
    "{".repeat(2000),
  ],
};

/** Formulas in the text of a question: runs without words. A number, or an equation that is solved already, may be the answer itself. */
function formulasOf(question: string): string[] {
  return question
    .split(/[a-zA-Z]{2,}|[?:;]|[.,](?=\s|$)/)
    .map((run) => run.trim())
    .filter((run) => /\d\s*[-+*/^<>=%]/.test(run) || /[-+*/^<>=]\s*\d/.test(run))
    .filter((run) => !/^(?:x\s*=\s*)?[-+]?\d+$/.test(run));
}

const SCHEMAS = ["answer", "boxed", "gsm8k", "text"] as const;

/** Plays each attack on `count` tasks of each family, in both styles; the place of the answer changes from task to task. */
export function attackTests(count: number): void {
  describe.each(FAMILY_NAMES)("U1, U2: %s", (family) => {
    test.each(Object.entries(attacks))("nothing is paid and nothing is unscored: %s", async (_name, attack) => {
      const faults: unknown[] = [];
      for (const [at, schema] of SCHEMAS.entries()) {
        for (const style of ["prose", "terse"]) {
          const { play, tasks } = await prepare({
            families: [family],
            style,
            answer_schema: schema,
            difficulty_range: [1, 10],
          });
          for (let index = at; index < count; index += SCHEMAS.length) {
            const task: Task = await tasks.get("train", index);
            const question = String(task.public["question"]);
            const { answer } = solutionOf(task);
            for (const attempt of attack({ question, formulas: formulasOf(question), answer })) {
              if (attempt === answer) continue;
              const [step] = await play(`train/${index}`, [placeAnswer(attempt, schema)]);
              const reward = step?.rewards["agent"];
              if (reward?.scored !== true || reward.value !== 0) faults.push({ question, answer, attempt, reward });
            }
          }
        }
      }
      expect(faults.slice(0, 5)).toEqual([]);
    });
  });
}

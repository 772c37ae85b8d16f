import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const EXAMPLES = fileURLToPath(new URL("../../examples/real/", import.meta.url));

/** A configuration of examples/real, and how its episodes are judged. */
export interface Row {
  readonly name: string;
  /** Of `MODELS`. */
  readonly model: string;
  /** Folder of its environment, where that stands beside the configuration. */
  readonly plugin?: string;
  /** Description of a held-out task, for the table. */
  readonly task: string;
  /** SQL expression over `v_episodes e`: 1 for a solved task, 0 for another. */
  readonly solved: string;
}

export const ROWS: readonly Row[] = [
  {
    name: "arithmetic",
    model: "smollm2",
    task: "sums, differences and products of numbers of up to two digits",
    solved: "e.components ->> 'correct'",
  },
  {
    name: "worked",
    model: "smollm2",
    task: "equations, number theory and chains of operations, with written steps",
    solved: "e.components ->> 'correct'",
  },
  {
    name: "gsm8k",
    model: "smollm2",
    task: "grade-school problems of GSM8K",
    solved: "e.components ->> 'correct'",
  },
  {
    name: "code",
    model: "smollm2",
    task: "functions in Python of the lowest level, with hidden tests",
    solved: "e.components ->> 'all_passed'",
  },
  {
    name: "humaneval",
    model: "smollm2",
    task: "HumanEval, without training on it",
    solved: "e.components ->> 'all_passed'",
  },
  {
    name: "calculator",
    model: "smollm2",
    task: "calculations of numbers that are too large for the model, with a calculator",
    solved: "e.components ->> 'answer'",
  },
  {
    name: "agent",
    model: "smollm2",
    plugin: "../agent",
    task: "prices of orders, by an agent program with two tools",
    solved: "e.reward",
  },
  {
    name: "formats",
    model: "smollm2",
    plugin: "formats",
    task: "one or two rules of form, on a topic",
    solved: "e.components ->> 'solved'",
  },
  {
    name: "preferences",
    model: "smollm2",
    plugin: "formats",
    task: "one or two rules of form, on a topic",
    solved: "e.components ->> 'solved'",
  },
  {
    name: "nim",
    model: "smollm2",
    task: "the first move in the 16 positions that can be won",
    solved: "e.components ->> 'correct'",
  },
];

/** Returns a hash of the configuration of a row, and of the environment that stands beside it. */
export function hashOf({ name, model, plugin }: Row): string {
  const hash = createHash("sha256").update(model);
  hash.update(readFileSync(join(EXAMPLES, `${name}.yaml`)));
  if (plugin !== undefined)
    for (const file of readdirSync(join(EXAMPLES, plugin))
      .filter((each) => each.endsWith(".ts"))
      .sort())
      hash.update(readFileSync(join(EXAMPLES, plugin, file)));
  return hash.digest("hex").slice(0, 12);
}

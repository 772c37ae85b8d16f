import type { JsonValue, RandomStream } from "@mrlm/kit";
import { type Line, line, list, type List, type Prose, prose } from "./forms.ts";
import { type Answer, type Instruction, wordsOf } from "./instruction.ts";
import { type Selection, selectedOf } from "./items.ts";
import { type Json, json } from "./json.ts";

/** Instructions of one task: a form, and what is demanded beside it. */
export type Instructions = {
  readonly line?: Line;
  readonly list?: List;
  readonly prose?: Prose;
  readonly json?: Json;
  readonly first?: string;
  readonly last?: string;
  readonly casing?: "small" | "capital";
  readonly forbidden?: string[];
  readonly demanded?: { readonly word: string; readonly times: number };
};

/** Content of a task. The right answer follows from it. */
export type InstructionTask = Selection & { readonly instructions: Instructions };

export type FormName = "line" | "list" | "prose" | "json";
export const FORMS = { line, list, prose, json } as const;

const cased = (text: string, casing: Instructions["casing"]): string =>
  casing === "small" ? text.toLowerCase() : casing === "capital" ? text.toUpperCase() : text;

/** Instructions beside the form, in the order in which a task states them. */
const OTHERS = {
  first: instruction<string>(
    (text) => `Before that, write a first line that is exactly: ${text}`,
    (text, { text: answer }) => answer.split("\n").at(0) === text,
  ),
  last: instruction<string>(
    (text) => `After that, write a last line that is exactly: ${text}`,
    (text, { text: answer }) => answer.split("\n").at(-1) === text,
  ),
  casing: instruction<"small" | "capital">(
    (casing) => `Write the whole answer in ${casing} letters.`,
    (casing, { text }) => text === cased(text, casing),
  ),
  forbidden: instruction<string[]>(
    (words) => `Do not use the words ${words.map((word) => `"${word}"`).join(" and ")}.`,
    (words, { text }) => !wordsOf(text).some((word) => words.includes(word)),
  ),
  demanded: instruction<{ readonly word: string; readonly times: number }>(
    ({ word, times }) => `Use the word "${word}" exactly ${times === 1 ? "once" : `${times} times`}.`,
    ({ word, times }, { text }) => wordsOf(text).filter((each) => each === word).length === times,
  ),
} as const;

function instruction<Value extends JsonValue>(
  describe: Instruction<Value>["describe"],
  holds: Instruction<Value>["holds"],
): Instruction<Value> {
  return { describe, holds };
}

/** An instruction together with its parameters. */
interface Stated {
  readonly name: string;
  describe(): string;
  holds(answer: Answer): boolean;
}

/** Lists the instructions of a task, the form first. */
export function statedIn(instructions: Instructions): readonly Stated[] {
  const all: Readonly<Record<string, Instruction<never>>> = { ...FORMS, ...OTHERS };
  return Object.entries(all).flatMap(([name, { describe, holds }]) => {
    const value = instructions[name as keyof Instructions] as never;
    return value === undefined
      ? []
      : [{ name, describe: () => describe(value), holds: (answer: Answer) => holds(value, answer) }];
  });
}

/** Returns the name of the form of a task. */
export function formOf(instructions: Instructions): FormName {
  return (Object.keys(FORMS) as FormName[]).find((name) => instructions[name] !== undefined) as FormName;
}

/** Writes an answer that follows all instructions of a task. */
export function writeAnswer({ instructions, ...selection }: InstructionTask): string {
  const { first, last, casing, demanded } = instructions;
  const name = formOf(instructions);
  const form = FORMS[name] as { write(value: unknown, items: readonly unknown[]): string[] };
  const lines = form.write(instructions[name], selectedOf(selection));
  let left = demanded?.times ?? 0;
  const body = lines.map((each) =>
    each.replaceAll(/\bcoins\b/g, (word) => (left-- > 0 ? String(demanded?.word) : word)),
  );
  return [
    ...(first === undefined ? [] : [first]),
    ...body.map((each) => cased(each, casing)),
    ...(last === undefined ? [] : [last]),
  ].join("\n");
}

/** Words that a task can forbid. {@link writeAnswer} uses none of them. */
const FORBIDDEN = ["and", "is", "also", "with", "a", "very", "has", "for"];
const DEMANDED = ["pieces", "pounds", "francs", "tokens"];
const FIRST = ["Goods of the week", "From our shop", "Offer 7", "Here you are"];
const LAST = ["End of list", "Come again", "Thank you", "Page 1 of 1"];

/** Draws instructions. @param more number of instructions beside the form */
export function drawInstructions(
  random: RandomStream,
  {
    form,
    level,
    more,
    selected,
  }: { readonly form: FormName; readonly level: number; readonly more: number; readonly selected: number },
): Instructions {
  if (form === "json") return { json: json.draw(random, level) };
  const possible =
    form === "prose"
      ? (["first", "last", "casing", "forbidden", "demanded"] as const)
      : (["first", "last", "casing"] as const);
  const chosen = new Set<string>(random.shuffle(possible).slice(0, more));
  const casing = chosen.has("casing") ? random.pick(["small", "capital"] as const) : undefined;
  return {
    [form]: FORMS[form].draw(random, level),
    ...(casing === undefined ? {} : { casing }),
    ...(chosen.has("first") ? { first: cased(random.pick(FIRST), casing) } : {}),
    ...(chosen.has("last") ? { last: cased(random.pick(LAST), casing) } : {}),
    ...(chosen.has("forbidden") ? { forbidden: random.shuffle(FORBIDDEN).slice(0, 2) } : {}),
    ...(chosen.has("demanded")
      ? { demanded: { word: random.pick(DEMANDED), times: random.integer(1, selected) } }
      : {}),
  };
}

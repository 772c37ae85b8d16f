import {
  chatMessage,
  isRecordedRow,
  isSingleRow,
  type JsonValue,
  MrlmError,
  parsePreferenceRow,
} from "@mrlm/kit/learning";
import { z } from "zod";

const label = z.union([z.boolean().transform(Number), z.number().min(0).max(1)]);
const stepsRow = z.object({ messages: z.array(chatMessage).min(1), labels: z.array(label).min(1) });
const marginOf = z.object({ margin: z.number().nonnegative().nullish() });

/** Row of judged steps: one label for each assistant message. */
export type StepsRow = z.output<typeof stepsRow>;

/** Form of the rows of a file. */
export type RowKind = "pairs" | "steps" | "episodes";

/** Returns the form of a row by its keys. */
export function rowKind(value: JsonValue): RowKind {
  if (isRecordedRow(value)) return "episodes";
  return typeof value === "object" && value !== null && "labels" in value ? "steps" : "pairs";
}

/** Parses a row of judged steps. Throws DATA_INVALID for another form, and unless each assistant message has a label. */
export function parseStepsRow(value: JsonValue, where: string): StepsRow {
  const parsed = stepsRow.safeParse(value);
  if (!parsed.success)
    throw new MrlmError("DATA_INVALID", `${where} is not {messages, labels}: ${z.prettifyError(parsed.error)}`, {
      hint: "A label is true, false, or a probability from 0 to 1.",
    });
  const { messages, labels } = parsed.data;
  const turns = messages.filter(({ role }) => role === "assistant").length;
  if (turns === labels.length) return parsed.data;
  throw new MrlmError("DATA_INVALID", `${where} has ${labels.length} labels for ${turns} assistant messages.`, {
    hint: "Each message of role assistant is a step with a label of its own.",
  });
}

/** Checks a row of a pair, and returns its margin. Throws DATA_INVALID. */
export function pairMargin(value: JsonValue, where: string): number {
  if (isSingleRow(parsePreferenceRow(value, where)))
    throw new MrlmError("DATA_INVALID", `${where} is a single answer, and a reward model compares two to one prompt.`, {
      hint: "Use rows {prompt, chosen, rejected}, or {messages, labels}.",
    });
  const parsed = marginOf.safeParse(value);
  if (!parsed.success) throw new MrlmError("DATA_INVALID", `${where}: margin must be a number of at least 0.`);
  return parsed.data.margin ?? 0;
}

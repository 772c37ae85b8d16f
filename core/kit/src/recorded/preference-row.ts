import {
  type EngineSequence,
  type JsonValue,
  type Message,
  MrlmError,
  type Renderer,
  type SupervisedSequence,
} from "@mrlm/spec";
import { z } from "zod";
import { textMessage } from "../messages.ts";
import { chatMessage, fromChatMessage } from "./chat-message.ts";

/** Two answers to one prompt, or a single judged answer: the other one is then empty. The mask of each sequence is 1 for the tokens of the answer. */
export interface AnswerPair {
  readonly chosen: readonly EngineSequence[];
  readonly rejected: readonly EngineSequence[];
}

const answer = z.union([z.string(), z.array(chatMessage).length(1)]);
const prompt = z.union([z.string(), z.array(chatMessage).min(1)]);
const pairRow = z.object({ prompt, chosen: answer, rejected: answer });
const singleRow = z.object({ prompt, completion: answer, label: z.boolean() });

/** Row with one answer: its label is true if the answer is desirable. */
export type SingleRow = z.output<typeof singleRow>;

/** A row of a preference file: a pair of answers, or one answer with its label. */
export type PreferenceRow = z.output<typeof pairRow> | SingleRow;

export function isSingleRow(row: PreferenceRow): row is SingleRow {
  return "label" in row;
}

/** Throws DATA_INVALID for a value of another form. */
export function parsePreferenceRow(value: JsonValue, where: string): PreferenceRow {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const isSingle = keys.includes("completion") || (keys.includes("label") && !keys.includes("chosen"));
  const shape = isSingle ? singleRow : pairRow;
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const wanted = Object.keys(shape.shape);
  const missing = wanted.filter((key) => !keys.includes(key));
  const wrong = [...new Set(parsed.error.issues.map(({ path }) => path[0]))];
  const fault =
    missing.length > 0
      ? `it has no ${missing.join(" and no ")}${keys.length > 0 ? `, but ${keys.join(", ")}` : ""}`
      : wrong.includes("label")
        ? "label must be true (desirable) or false (undesirable)"
        : `${wrong.join(" and ")} must be text or messages of {role, content}`;
  throw new MrlmError("DATA_INVALID", `${where} is not {${wanted.join(", ")}}: ${fault}.`);
}

/** Renders the answers of a row after its prompt. Throws DATA_INVALID if the prompt has other tokens before one answer than before the other. */
export function toPair(renderer: Renderer, value: JsonValue, where: string): AnswerPair {
  const row = parsePreferenceRow(value, where);
  const asked = typeof row.prompt === "string" ? [textMessage("user", row.prompt)] : row.prompt.map(fromChatMessage);
  if (isSingleRow(row)) return singleOf([answerTo(renderer, asked, row.completion)], row.label);
  const [one, other] = [answerTo(renderer, asked, row.chosen), answerTo(renderer, asked, row.rejected)];
  const start = promptLength(one);
  if (start !== promptLength(other) || !one.tokens.subarray(0, start).every((token, t) => token === other.tokens[t])) {
    throw new MrlmError(
      "DATA_INVALID",
      `${where}: the prompt has other tokens before the chosen answer than before the rejected one.`,
      {
        hint: "The chat template must render a prompt in the same way before every answer.",
      },
    );
  }
  return { chosen: [one], rejected: [other] };
}

/** Returns a pair that lacks one of its answers. */
export function singleOf(sequences: readonly EngineSequence[], isDesirable: boolean): AnswerPair {
  return isDesirable ? { chosen: sequences, rejected: [] } : { chosen: [], rejected: sequences };
}

/** Renders the conversation with its answer. The mask covers the answer only; earlier assistant messages are part of the prompt. */
function answerTo(renderer: Renderer, asked: readonly Message[], given: z.output<typeof answer>): SupervisedSequence {
  const message =
    typeof given === "string"
      ? textMessage("assistant", given)
      : { ...fromChatMessage(given[0] as z.output<typeof chatMessage>), role: "assistant" as const };
  const { tokens, mask } = renderer.supervise([...asked, message]).at(-1) as SupervisedSequence;
  const end = mask.lastIndexOf(1);
  const start = mask.lastIndexOf(0, end) + 1;
  return { tokens, mask: mask.map((chosen, t) => (t >= start ? chosen : 0)) };
}

function promptLength({ mask }: SupervisedSequence): number {
  return mask.indexOf(1);
}

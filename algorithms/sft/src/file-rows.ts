import {
  chatMessage,
  chatTools,
  fromChatMessage,
  fromChatTools,
  isLearnable,
  isOfOtherPlayer,
  isRecordedRow,
  type JsonValue,
  learntRowReward,
  type Message,
  MrlmError,
  parseRecordedRow,
  type RecordedRow,
  recordedSequences,
  type Renderer,
  type SupervisedSequence,
  textMessage,
  type ToolDefinition,
} from "@mrlm/kit/learning";
import { z } from "zod";

const tools = chatTools.nullish();
const row = z.union([
  z.object({ messages: z.array(chatMessage).min(2), tools }),
  z.object({ prompt: z.union([z.string(), z.array(chatMessage).min(1)]), completion: z.string(), tools }),
]);

interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
}

/** A tokenised row of a data file. */
export interface FileRow {
  readonly sequences: readonly SupervisedSequence[];
  /** For messages: `data.jsonl:12`. */
  readonly place: string;
}

/** Rows to train on, and the number of the rows that were left out, by reason. */
export interface FileRows {
  readonly rows: readonly FileRow[];
  readonly left: Readonly<Record<string, number>>;
}

/** Tokenises the rows of a file: conversations, prompts with completions, or recorded episodes with at least the smallest reward. */
export function readFileRows(
  values: readonly JsonValue[],
  path: string,
  renderer: Renderer,
  minReward: number | undefined,
): FileRows {
  const left: Record<string, number> = {};
  const rows = values.flatMap((value, index): FileRow[] => {
    const place = `${path}:${index + 1}`;
    if (!isRecordedRow(value)) {
      const { messages, tools: offered } = toConversation(value, place);
      return [{ sequences: renderer.supervise(messages, offered), place }];
    }
    const recorded = parseRecordedRow(value, place);
    const sequences = isLearnable(recorded, minReward) ? recordedSequences(recorded, renderer) : [];
    if (sequences.length > 0) return [{ sequences, place }];
    const why = isOfOtherPlayer(recorded)
      ? "of other players"
      : recorded.error
        ? "failed"
        : learntRowReward(recorded) === null
          ? "unscored"
          : isLearnable(recorded, minReward)
            ? "without a response"
            : `below min_reward ${minReward}`;
    left[why] = (left[why] ?? 0) + 1;
    return [];
  });
  return { rows, left };
}

/** Throws DATA_INVALID for a row of unknown form, and for a file of recorded episodes of which none would be used. */
export function checkFileRows(values: readonly JsonValue[], path: string, minReward: number | undefined): void {
  const places = values.map((value, index) => ({ value, place: `${path}:${index + 1}` }));
  for (const { value, place } of places) if (!isRecordedRow(value)) toConversation(value, place);
  if (values.some((value) => !isRecordedRow(value) || isLearnable(value as RecordedRow, minReward))) return;
  const rows = places
    .map(({ value, place }) => parseRecordedRow(value, place))
    .filter((each) => !isOfOtherPlayer(each));
  if (rows.length === 0)
    throw new MrlmError("DATA_INVALID", `${path}: no policy played any of its ${values.length} rows.`, {
      hint: "Rows of frozen models and scripted policies are not learnt from. Collect with the model to learn from as --model.",
    });
  const earned = rows.flatMap(({ error, reward }) => (error || reward === null ? [] : [reward]));
  const best = earned.reduce((most, reward) => Math.max(most, reward), Number.NEGATIVE_INFINITY);
  if (earned.length === 0)
    throw new MrlmError(
      "DATA_INVALID",
      `${path}: none of its ${values.length} episodes has a score: there is nothing to train on.`,
      { hint: "Each row has the reason (`error`, `unscored`). Fix it and collect again." },
    );
  throw new MrlmError(
    "DATA_INVALID",
    `${path}: none of its ${values.length} episodes earned min_reward ${minReward}; the best earned ${best}.`,
    { hint: "Lower min_reward, or collect episodes of a better policy or of easier tasks." },
  );
}

function toConversation(value: JsonValue, place: string): Conversation {
  const parsed = row.safeParse(value);
  if (!parsed.success) {
    throw new MrlmError(
      "DATA_INVALID",
      `${place} is neither {messages} nor {prompt, completion}, nor a recorded episode: ${z.prettifyError(parsed.error)}`,
    );
  }
  const offered = fromChatTools(parsed.data.tools ?? []);
  if ("messages" in parsed.data) return { messages: parsed.data.messages.map(fromChatMessage), tools: offered };
  const { prompt, completion } = parsed.data;
  const asked = typeof prompt === "string" ? [textMessage("user", prompt)] : prompt.map(fromChatMessage);
  return { messages: [...asked, textMessage("assistant", completion)], tools: offered };
}

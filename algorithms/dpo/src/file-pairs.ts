import { textMessage } from "@mrlm/kit";
import {
  chatMessage,
  type RecordedRow,
  recordedSequences,
  fromChatMessage,
  isRecordedRow,
  isLearnable,
  isOfOtherPlayer,
  learntRowReward,
  parseRecordedRow,
} from "@mrlm/kit/learning";
import {
  type AlgorithmContext,
  type JsonValue,
  type Message,
  MrlmError,
  type Renderer,
  type SupervisedSequence,
} from "@mrlm/spec";
import { z } from "zod";
import { pairMembers } from "./episode-pairs.ts";
import type { Pair } from "./pair.ts";

const answer = z.union([z.string(), z.array(chatMessage).length(1)]);
const row = z.object({ prompt: z.union([z.string(), z.array(chatMessage).min(1)]), chosen: answer, rejected: answer });

/** Reads pairs from a file: {prompt, chosen, rejected} as text or messages, or recorded episodes, which are paired within their groups. Checks each row before training starts. */
export async function pairsFromFile(context: AlgorithmContext, path: string, pairsPerGroup = 1): Promise<Pair[]> {
  const { models } = await context.engine.describe();
  const longest = models.find(({ model }) => model === context.policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  const values = await context.rows(path);
  const others = values.filter((value) => isRecordedRow(value) && isOfOtherPlayer(value as RecordedRow)).length;
  if (others > 0)
    context.logger.warn(
      `${path}: ${others} of ${values.length} rows are left out: other players than a policy played them.`,
    );
  const pairs = values.some(isRecordedRow)
    ? pairsOfRecorded(values, path, context.renderer, pairsPerGroup)
    : values.map((value, index) => ({
        pair: toPair(context.renderer, value, `${path}:${index + 1}`),
        where: `${path}:${index + 1}`,
      }));
  return pairs.map(({ pair, where }) => {
    const length = Math.max(...[...pair.chosen, ...pair.rejected].map(({ tokens }) => tokens.length));
    if (length <= longest) return pair;
    throw new MrlmError("DATA_INVALID", `${where} has ${length} tokens; the model takes ${longest}.`, {
      hint: "Shorten or remove the row. A trainer does not cut preference pairs, because either end may decide the preference.",
    });
  });
}

/** Throws DATA_INVALID for rows that are no pairs and cannot be paired. Needs no tokenizer. */
export function checkPairRows(values: readonly JsonValue[], path: string, pairsPerGroup: number): void {
  const recorded = values.filter(isRecordedRow).length;
  if (recorded > 0 && recorded < values.length)
    throw new MrlmError("DATA_INVALID", `${path} has recorded episodes among rows of another kind.`, {
      hint: "Put recorded episodes and other rows into separate files.",
    });
  if (recorded === 0 && pairsPerGroup > 1)
    throw new MrlmError(
      "DATA_INVALID",
      `pairs_per_group is of episodes that are paired within their groups, and ${path} has pairs already.`,
      { hint: "Leave pairs_per_group out." },
    );
  if (recorded === 0) for (const [index, value] of values.entries()) parsePairRow(value, `${path}:${index + 1}`);
  else if (learnableGroups(values, path).every((members) => members.length < 2)) {
    throw new MrlmError(
      "DATA_INVALID",
      `${path} has no two scored episodes of one task: there is nothing to compare.`,
      { hint: "Collect several of each task: mrlm collect --group-size 8." },
    );
  }
}

/** Returns the scored episodes of policies in a file by group and role. */
function learnableGroups(values: readonly JsonValue[], path: string): RecordedRow[][] {
  const rows = values
    .map((value, index) => parseRecordedRow(value, `${path}:${index + 1}`))
    .filter((row) => isLearnable(row));
  return Object.values(Object.groupBy(rows, ({ group, role }) => JSON.stringify([group, role]))).map(
    (members = []) => members,
  );
}

/** Pairs the best and worst episodes of each group. Leaves out failed and unscored episodes. */
function pairsOfRecorded(
  values: readonly JsonValue[],
  path: string,
  renderer: Renderer,
  pairsPerGroup: number,
): { readonly pair: Pair; readonly where: string }[] {
  return learnableGroups(values, path).flatMap((members) => {
    const ranked = members
      .map((row) => ({ rows: recordedSequences(row, renderer), reward: learntRowReward(row) as number }))
      .filter(({ rows: sequences }) => sequences.length > 0);
    return pairMembers(ranked, pairsPerGroup).map((pair) => ({
      pair,
      where: `${path}: a pair of task ${members[0]?.task}`,
    }));
  });
}

function parsePairRow(value: JsonValue, where: string): z.output<typeof row> {
  const parsed = row.safeParse(value);
  if (parsed.success) return parsed.data;
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const missing = ["prompt", "chosen", "rejected"].filter((key) => !keys.includes(key));
  const fault =
    missing.length > 0
      ? `it has no ${missing.join(" and no ")}${keys.length > 0 ? `, but ${keys.join(", ")}` : ""}`
      : `${[...new Set(parsed.error.issues.map(({ path }) => path[0]))].join(" and ")} must be text or messages of {role, content}`;
  throw new MrlmError("DATA_INVALID", `${where} is not {prompt, chosen, rejected}: ${fault}.`);
}

function toPair(renderer: Renderer, value: JsonValue, where: string): Pair {
  const { prompt, chosen, rejected } = parsePairRow(value, where);
  const asked = typeof prompt === "string" ? [textMessage("user", prompt)] : prompt.map(fromChatMessage);
  const [one, other] = [answerTo(renderer, asked, chosen), answerTo(renderer, asked, rejected)];
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

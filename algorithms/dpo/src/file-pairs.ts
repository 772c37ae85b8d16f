import {
  type AlgorithmContext,
  isLearnable,
  isOfOtherPlayer,
  isRecordedRow,
  isSingleRow,
  type JsonValue,
  learntRowReward,
  MrlmError,
  parsePreferenceRow,
  parseRecordedRow,
  type RecordedRow,
  recordedSequences,
  type Renderer,
  toPair,
} from "@mrlm/kit/learning";
import { pairsOfMembers } from "./episode-pairs.ts";
import { lossEntry, lossName } from "./losses/index.ts";
import type { DpoSettings } from "./options.ts";
import type { Pair } from "./pair.ts";

/** Options that decide on the rows of a file. */
export type RowOptions = Pick<DpoSettings, "loss" | "pairs_per_group" | "desirable_reward">;

/**
 * Reads pairs from a file: {prompt, chosen, rejected} as text or messages, single answers {prompt, completion, label}, or recorded episodes, which are paired
 * within their groups. Checks each row before training starts.
 */
export async function pairsFromFile(context: AlgorithmContext, path: string, options: RowOptions): Promise<Pair[]> {
  const { models } = await context.engine.describe();
  const longest = models.find(({ model }) => model === context.policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  const values = await context.rows(path);
  const others = values.filter((value) => isRecordedRow(value) && isOfOtherPlayer(value as RecordedRow)).length;
  if (others > 0)
    context.logger.warn(
      `${path}: ${others} of ${values.length} rows are left out: other players than a policy played them.`,
    );
  const pairs = values.some(isRecordedRow)
    ? pairsOfRecorded(values, path, context.renderer, options)
    : values.map((value, index) => ({
        pair: toPair(context.renderer, value, `${path}:${index + 1}`),
        where: `${path}:${index + 1}`,
      }));
  return pairs.map(({ pair, where }) => {
    const length = Math.max(...[...pair.chosen, ...pair.rejected].map(({ tokens }) => tokens.length));
    if (length <= longest) return pair;
    throw new MrlmError("DATA_INVALID", `${where} has ${length} tokens; the model takes ${longest}.`, {
      hint: "Shorten or remove the row. A trainer does not cut answers that are compared, because either end may decide the preference.",
    });
  });
}

/** Throws DATA_INVALID for rows that cannot be compared under the loss. Needs no tokenizer. */
export function checkPairRows(values: readonly JsonValue[], path: string, options: RowOptions): void {
  const recorded = values.filter(isRecordedRow).length;
  if (recorded > 0 && recorded < values.length)
    throw new MrlmError("DATA_INVALID", `${path} has recorded episodes among rows of another kind.`, {
      hint: "Put recorded episodes and other rows into separate files.",
    });
  if (recorded > 0) checkRecorded(values, path, options);
  else checkPreferences(values, path, options);
}

function checkPreferences(values: readonly JsonValue[], path: string, options: RowOptions): void {
  for (const name of ["pairs_per_group", "desirable_reward"] as const) {
    if (options[name] === (name === "pairs_per_group" ? 1 : undefined)) continue;
    throw new MrlmError("DATA_INVALID", `${name} is of episodes, and ${path} has judged answers already.`, {
      hint: `Leave ${name} out.`,
    });
  }
  const rows = values.map((value, index) => parsePreferenceRow(value, `${path}:${index + 1}`));
  const singles = rows.filter(isSingleRow);
  if (singles.length === 0) return;
  if (singles.length < rows.length)
    throw new MrlmError("DATA_INVALID", `${path} has single answers among pairs.`, {
      hint: "Put {prompt, chosen, rejected} and {prompt, completion, label} into separate files, or write each pair as two single answers.",
    });
  if (!lossEntry(options.loss).takesSingles)
    throw new MrlmError(
      "DATA_INVALID",
      `${path} has single answers {prompt, completion, label}, and loss: ${lossName(options.loss)} compares two answers to one prompt.`,
      { hint: "Set loss: kto, or use rows {prompt, chosen, rejected}." },
    );
  checkKinds(
    singles.map(({ label }) => label),
    path,
    "label",
  );
}

function checkRecorded(values: readonly JsonValue[], path: string, { desirable_reward }: RowOptions): void {
  const groups = learnableGroups(values, path);
  if (desirable_reward !== undefined)
    return checkKinds(
      groups.flat().map((row) => (learntRowReward(row) as number) >= desirable_reward),
      path,
      `a reward of at least ${desirable_reward}:`,
    );
  if (groups.every((members) => members.length < 2)) {
    throw new MrlmError(
      "DATA_INVALID",
      `${path} has no two scored episodes of one task: there is nothing to compare.`,
      { hint: "Collect several of each task: mrlm collect --group-size 8." },
    );
  }
}

/** Throws DATA_INVALID unless some answers are desirable and others are not: the divergence would be all that a batch compares with. */
function checkKinds(kinds: readonly boolean[], path: string, what: string): void {
  if (kinds.includes(true) && kinds.includes(false)) return;
  throw new MrlmError(
    "DATA_INVALID",
    kinds.length === 0
      ? `${path} has no answer to learn from.`
      : `All ${kinds.length} answers of ${path} have ${what} ${kinds[0]}: the loss needs desirable and undesirable answers.`,
    { hint: "Add answers of the other kind. To imitate good answers alone, use sft." },
  );
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

/** Compares the episodes of each group. Leaves out failed and unscored episodes. */
function pairsOfRecorded(
  values: readonly JsonValue[],
  path: string,
  renderer: Renderer,
  options: RowOptions,
): { readonly pair: Pair; readonly where: string }[] {
  return learnableGroups(values, path).flatMap((members) => {
    const ranked = members
      .map((row) => ({ rows: recordedSequences(row, renderer), reward: learntRowReward(row) as number }))
      .filter(({ rows: sequences }) => sequences.length > 0);
    return pairsOfMembers(ranked, options).map((pair) => ({
      pair,
      where: `${path}: an episode of task ${members[0]?.task}`,
    }));
  });
}

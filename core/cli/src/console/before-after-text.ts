import type { BeforeAndAfter } from "@mrlm/runtime";
import { messageText, noText, rewardText } from "./episode-text.ts";
import { glyph } from "./unicode.ts";

type Row = BeforeAndAfter["before"];

const MAX_LINES = 6;
const MAX_COLUMNS = 100;

/** Formats one task with the answers of the first and the last policy; long texts are cut; `mrlm show` prints them in full. */
export function beforeAfterText({ environment, task, before, after }: BeforeAndAfter): string {
  const prompt = before.messages.slice(
    0,
    before.messages.findIndex(({ role }) => role === "assistant"),
  );
  const agent = before.agent === "agent" ? "" : `, agent ${before.agent}`;
  const shown = prompt.map((message) => entry(message.role, messageText(message)));
  return [
    `  ${environment}, task ${task}${agent}`,
    ...shown,
    ...answered("before", before),
    ...answered("after", after),
  ].join("\n");
}

/** Returns the last answer; of several turns with the observation before it, because the first prompt is not what it answers. */
function answered(label: string, row: Row): string[] {
  const { messages, turns, error } = row;
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last === undefined)
    return [entry(label, error ? `failed with ${error.code}: ${error.message}` : "(no answer)", note(row))];
  const text = messageText(last) || noText(turns.at(-1));
  if (turns.length < 2) return [entry(label, text, note(row))];
  const from = messages.slice(0, at).findLastIndex(({ role }) => role === "assistant") + 1;
  return [
    entry(label, `turn ${turns.length} of ${turns.length}`),
    ...messages.slice(from, at).map((message) => entry(message.role, messageText(message))),
    entry("assistant", text, note(row)),
  ];
}

function note(row: Row): string {
  return `[${rewardText(row)}${row.turns.at(-1)?.stop_reason === "length" ? ", cut by max_tokens" : ""}]`;
}

function entry(label: string, text: string, after?: string): string {
  const ellipsis = glyph("…", "...");
  const lines = text
    .split("\n")
    .map((line) => (line.length > MAX_COLUMNS ? `${line.slice(0, MAX_COLUMNS)}${ellipsis}` : line));
  const kept = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES - 1), ellipsis] : lines;
  return [...kept, ...(after === undefined ? [] : [after])]
    .map((line, i) => `    ${(i === 0 ? label : "").padEnd(9)} ${line}`)
    .join("\n");
}

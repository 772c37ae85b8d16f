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
    entry("before", answer(before), note(before)),
    entry("after", answer(after), note(after)),
  ].join("\n");
}

function answer({ messages, turns, error }: Row): string {
  const last = messages.findLast(({ role }) => role === "assistant");
  if (last === undefined) return error ? `failed with ${error.code}: ${error.message}` : "(no answer)";
  const text = messageText(last) || noText(turns.at(-1));
  return turns.length > 1 ? `(last of ${turns.length} turns) ${text}` : text;
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

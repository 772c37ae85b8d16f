import { Refused } from "./refused.ts";

/** Returns a text, or a part of its lines followed by a note that states which. */
export function readLines(text: string, start = 1, count = Number.POSITIVE_INFINITY): string {
  if (start === 1 && count === Number.POSITIVE_INFINITY) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (start > lines.length) throw new Refused(`The file has ${lines.length} lines; start_line is ${start}`);
  const end = Math.min(start - 1 + count, lines.length);
  return `${lines.slice(start - 1, end).join("\n")}\n[lines ${start} to ${end} of ${lines.length}]`;
}

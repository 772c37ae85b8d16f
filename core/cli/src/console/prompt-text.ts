import { table } from "./table.ts";
import { glyph } from "./unicode.ts";

/** Rendered prompt. */
export interface Prompt {
  readonly environment: string;
  readonly task: string;
  readonly agent: string;
  readonly text: string;
  readonly tokens: readonly number[];
  /** Text of each token by itself. */
  readonly pieces: readonly string[];
  /** Context length of the model; `null` if its configuration has none. */
  readonly max_positions: number | null;
  /** Most tokens of an answer. */
  readonly max_tokens: number;
}

/** Formats a prompt for people: its length, the text, and the tokens; with their ids as a table. */
export function promptText(
  { environment, task, agent, text, tokens, pieces, max_positions, max_tokens }: Prompt,
  withIds: boolean,
): string {
  const room = max_positions === null ? "" : ` of ${max_positions} positions`;
  const needed = tokens.length + max_tokens;
  const tight =
    max_positions !== null && needed > max_positions
      ? `\nThe longest answer (max_tokens ${max_tokens}) does not fit: it is cut after ${Math.max(0, max_positions - tokens.length)} tokens.`
      : "";
  const head = `${environment}, task ${task}${agent === "agent" ? "" : `, agent ${agent}`}: ${tokens.length} tokens${room}${tight}`;
  const shown = withIds
    ? table([
        ["position", "id", "token"],
        ...tokens.map((id, i) => [String(i), String(id), visible(pieces[i] as string)]),
      ])
    : pieces.map(visible).join(glyph("│", "|"));
  return `${head}\n\ntext\n${text}\n\ntokens${withIds ? "" : " (--ids: with their ids)"}\n${shown}`;
}

/** Escapes characters of a token that move the cursor. */
function visible(piece: string): string {
  return JSON.stringify(piece).slice(1, -1).replaceAll('\\"', '"');
}

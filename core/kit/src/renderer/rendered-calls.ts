import type { ToolDefinition } from "@mrlm/spec";
import { anyOf } from "./block-reader.ts";
import { CompletionParser, type ThinkingMarkers } from "./completion-parser.ts";
import type { WrittenCall } from "./formats/format.ts";
import { TOOL_FORMATS, type ToolFormatName } from "./formats/formats.ts";

/** Parts of a renderer that read the calls of an answer. */
export interface CallReader {
  readonly format: ToolFormatName;
  /** Special tokens of the tokenizer. */
  readonly specials: ReadonlySet<string>;
  readonly thinking: ThinkingMarkers;
}

/**
 * Returns the calls in an answer that a template rendered, as the parser reads them. The answer ends at the first special token that is no marker.
 * @param prompt text before the answer
 * @param tools tools of the prompt
 */
export function renderedCalls(
  answer: string,
  prompt: string,
  tools: readonly ToolDefinition[],
  { format: name, specials, thinking }: CallReader,
): WrittenCall[] {
  const format = TOOL_FORMATS[name];
  const markers = new Set([
    thinking.open,
    thinking.close,
    ...format.openings.map(({ marker }) => marker),
    ...format.inner,
  ]);
  const parser = new CompletionParser({
    name,
    format,
    specials,
    thinking,
    isThinking: prompt.trimEnd().endsWith(thinking.open),
    tools,
    nextId: () => "",
  });
  const parts = [];
  let at = 0;
  for (const { 0: token, index } of specials.size === 0 ? [] : answer.matchAll(anyOf([...specials]))) {
    parts.push(...parser.push(answer.slice(at, index)));
    at = markers.has(token) ? index + token.length : answer.length;
    if (!markers.has(token)) break;
    parts.push(...parser.pushToken(token));
  }
  parts.push(...parser.push(answer.slice(at)), ...parser.end());
  return parts.flatMap((part) => (part.type === "tool-call" ? [{ name: part.name, arguments: part.arguments }] : []));
}

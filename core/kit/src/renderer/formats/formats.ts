import { deepseek } from "./deepseek.ts";
import type { ToolFormat } from "./format.ts";
import { hermes } from "./hermes.ts";
import { kimi } from "./kimi.ts";
import { llamaJson } from "./llama-json.ts";
import { llamaPythonic } from "./llama-pythonic.ts";
import { mistral } from "./mistral.ts";
import { pythonic } from "./pythonic.ts";
import { qwenCoder } from "./qwen-coder.ts";

/** Forms in which models write calls of tools, by their names in configurations. */
export const TOOL_FORMATS = {
  hermes,
  "qwen-coder": qwenCoder,
  mistral,
  "llama-json": llamaJson,
  "llama-pythonic": llamaPythonic,
  deepseek,
  kimi,
  pythonic,
} satisfies Readonly<Record<string, ToolFormat>>;

/** Name of a form of calls. */
export type ToolFormatName = keyof typeof TOOL_FORMATS;

/** Names of the forms, for schemas of configurations. */
export const TOOL_FORMAT_NAMES = Object.keys(TOOL_FORMATS) as [ToolFormatName, ...ToolFormatName[]];

/** Texts that identify the format of a chat template, which contains all of them. The most specific are first. */
const SIGNS: readonly (readonly [readonly string[], ToolFormatName | undefined])[] = [
  // Formats that no parser here reads, beside signs of one that does: GLM, DeepSeek from V3.2 on, MiniMax, Functionary and Firefunction.
  [["<arg_key>"], undefined],
  [["｜DSML｜"], undefined],
  [["minimax:tool_call"], undefined],
  [["<function=", "<|start_header_id|>"], undefined],
  [["functools["], undefined],
  [["<|tool_call_begin|>"], "kimi"],
  [["<｜tool▁calls▁begin｜>"], "deepseek"],
  [["[TOOL_CALLS]"], "mistral"],
  [["<tool_call>", "<function="], "qwen-coder"],
  [["<tool_call>"], "hermes"],
  [["<|python_start|>", '"parameters": '], "llama-json"],
  [["<|python_start|>"], "llama-pythonic"],
  [["<|start_header_id|>", "[func"], "llama-pythonic"],
  [["<|start_header_id|>", '"parameters": '], "llama-json"],
  [["<|python_tag|>"], "llama-json"],
  [["<|tool_call_start|>"], "pythonic"],
  [["[func"], "pythonic"],
];

/** Special tokens of formats. Tokenizers of other models may have some of them, so that the template decides first. */
const TOKENS: readonly (readonly [string, ToolFormatName])[] = [
  ["<|tool_call_begin|>", "kimi"],
  ["<｜tool▁calls▁begin｜>", "deepseek"],
  ["[TOOL_CALLS]", "mistral"],
  ["<tool_call>", "hermes"],
  ["<|python_start|>", "llama-pythonic"],
  ["<|tool_call_start|>", "pythonic"],
  ["<|python_tag|>", "llama-json"],
];

/** Returns true for a special token that identifies a format. */
export function isToolMarker(token: string): boolean {
  return TOKENS.some(([marker]) => marker === token);
}

/**
 * Returns the format of a model from its chat template for conversations with tools, then from the added tokens of its tokenizer. Returns "hermes" if neither
 * identifies one, and `undefined` for a template that renders calls in a form that no parser reads.
 */
export function detectToolFormat(template: string, hasToken: (token: string) => boolean): ToolFormatName | undefined {
  const sign = SIGNS.find(([texts]) => texts.every((text) => template.includes(text)));
  if (sign !== undefined) return sign[1];
  const token = TOKENS.find(([name]) => hasToken(name))?.[1];
  // A template that renders calls in none of the forms above has a form of its own.
  return template.includes("tool_calls") ? undefined : (token ?? "hermes");
}

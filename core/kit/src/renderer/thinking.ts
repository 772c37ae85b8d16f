import type { ParseContext } from "@mrlm/spec/host";
import type { CompiledTemplate } from "./compiled-template.ts";
import type { ThinkingMarkers } from "./completion-parser.ts";
import type { TextTokenizer } from "./tokenizer.ts";

/** Markers of reasoning. The first whose opening marker is a special token applies, else the last. */
const MARKERS: readonly ThinkingMarkers[] = [
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<think>", close: "</think>" },
];

/** Tokens of a prompt that are decoded to find the marker at its end. */
const TAIL = 16;

/**
 * Returns the markers of reasoning of a model, and whether the prompt of a completion ends with the opening one: some templates open the reasoning
 * themselves, so that the completion begins inside it.
 *
 * @param templates templates without and with tools
 */
export function thinkingOf(
  tokenizer: TextTokenizer,
  templates: readonly CompiledTemplate[],
): { readonly thinking: ThinkingMarkers; readonly isThinking: (context: ParseContext) => boolean } {
  const specials = new Set(tokenizer.specials.values());
  const thinking = MARKERS.find(({ open }) => specials.has(open)) ?? (MARKERS.at(-1) as ThinkingMarkers);
  const opens = (prompt: string): boolean => prompt.trimEnd().endsWith(thinking.open);
  let known: boolean | undefined;
  // A prompt without its own generation prompt ends with content, which may be the marker too.
  const mayOpen = (): boolean => (known ??= templates.some((template) => opens(generationPrompt(template))));
  return {
    thinking,
    isThinking: ({ prompt }) => mayOpen() && (prompt === undefined || opens(tokenizer.decode(prompt.subarray(-TAIL)))),
  };
}

/** Returns the prompt of a short conversation; "" if the template refuses it. */
function generationPrompt(template: CompiledTemplate): string {
  try {
    return template([{ role: "user", content: "a" }], undefined, true);
  } catch {
    return "";
  }
}

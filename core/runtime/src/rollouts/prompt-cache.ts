import type { Message, Renderer, ToolDefinition } from "@mrlm/spec";
import { encodeBytes } from "../run/message-json.ts";

/** Capacity, above the number of concurrent tasks. */
const MAX_PROMPTS = 4096;

/** Cache of first prompts, which are rendered once for all members of a group. It is created for one request for episodes and evicts the oldest entry. */
export class PromptCache {
  readonly #tokens = new Map<Renderer, Map<string, Int32Array>>();

  render(renderer: Renderer, messages: readonly Message[], tools: readonly ToolDefinition[] | undefined): Int32Array {
    const known = this.#tokens.get(renderer) ?? new Map<string, Int32Array>();
    this.#tokens.set(renderer, known);
    const key = encodeBytes([messages, tools]);
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const { tokens } = renderer.render(messages, tools);
    known.set(key, tokens);
    const [oldest] = known.keys();
    if (known.size > MAX_PROMPTS && oldest !== undefined) known.delete(oldest);
    return tokens;
  }
}

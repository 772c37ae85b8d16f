import type { Message, Renderer, ToolDefinition } from "@mrlm/spec";
import { encodeBytes } from "../run/message-json.ts";

/** First prompts, rendered once for all members of a group. It lives as long as one request for episodes. */
export class PromptCache {
  readonly #tokens = new Map<Renderer, Map<string, Int32Array>>();

  render(renderer: Renderer, messages: readonly Message[], tools: readonly ToolDefinition[] | undefined): Int32Array {
    const known = this.#tokens.get(renderer) ?? new Map<string, Int32Array>();
    this.#tokens.set(renderer, known);
    const key = encodeBytes([messages, tools]);
    const tokens = known.get(key) ?? renderer.render(messages, tools).tokens;
    known.set(key, tokens);
    return tokens;
  }
}

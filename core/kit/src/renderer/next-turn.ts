import type { Message, ToolDefinition } from "@mrlm/spec";
import { MrlmError } from "@mrlm/spec";
import type { ChatTemplate } from "./chat-template.ts";

/** Text of the next turn of a policy. */
export interface NextTurn {
  /** Stop token that ends the last message of the policy. */
  readonly stop: string;
  /** Text after it, up to the position at which the policy writes. */
  readonly rest: string;
  /** Text with which the tokens before the stop token must end, else the template rewrites them. Absent if no rendering decides it. */
  readonly sampled?: string;
}

/**
 * Returns the next turn after a message of the policy; `undefined` if the template rewrites what was before. Renderings decide it: that of the history, or, where
 * the template writes the last message in another form than earlier ones, that of the prompt of the last message.
 */
export function nextTurn(
  template: ChatTemplate,
  stops: readonly string[],
  history: readonly Message[],
  messages: readonly Message[],
  tools: readonly ToolDefinition[] | undefined,
): NextTurn | undefined {
  const before = template(history, tools, false);
  const after = template([...history, ...messages], tools, true);
  const last = history.at(-1);
  if (after.startsWith(before)) {
    if (isThinkingDropped(after)) return undefined;
    const { stop, tail } = afterStop(before, stops);
    return { stop, rest: tail + after.slice(before.length) };
  }
  if (last?.role !== "assistant") return undefined;
  const prompt = template(history.slice(0, -1), tools, true);
  const end = after.startsWith(prompt) ? firstStop(after, prompt.length, stops) : undefined;
  if (end === undefined) return undefined;
  const { stop, at } = end;
  return { stop, rest: after.slice(at + stop.length), sampled: recent(prompt, stops) + after.slice(prompt.length, at) };

  /** Returns true if the template omits the reasoning of the last message, which the sampled tokens contain. No rendering then contains it. */
  function isThinkingDropped(whole: string): boolean {
    if (last?.role !== "assistant" || !last.parts.some(({ type }) => type === "thinking")) return false;
    const without = { ...last, parts: last.parts.filter(({ type }) => type !== "thinking") };
    return template([...history.slice(0, -1), without, ...messages], tools, true) === whole;
  }
}

/** Splits a rendered conversation that ends with a message of the policy: its stop token, and the text that the template adds. */
export function afterStop(
  rendered: string,
  stops: readonly string[],
): { readonly stop: string; readonly tail: string } {
  const found = lastStop(rendered, Infinity, stops);
  if (found === undefined)
    throw new MrlmError("TOKENIZER_INVALID", "The chat template does not end a policy's message with a stop token.");
  return { stop: found.stop, tail: rendered.slice(found.at + found.stop.length) };
}

interface Found {
  readonly stop: string;
  readonly at: number;
}

function firstStop(text: string, from: number, stops: readonly string[]): Found | undefined {
  const found = stops.map((stop) => ({ stop, at: text.indexOf(stop, from) })).filter(({ at }) => at >= 0);
  return found.toSorted((one, other) => one.at - other.at)[0];
}

function lastStop(text: string, before: number, stops: readonly string[]): Found | undefined {
  const found = stops.map((stop) => ({ stop, at: before <= 0 ? -1 : text.lastIndexOf(stop, before - 1) }));
  return found.filter(({ at }) => at >= 0).toSorted((one, other) => other.at - one.at)[0];
}

/** Returns the end of a prompt: what follows the last stop token but one, which is at least the last message before the answer. */
function recent(prompt: string, stops: readonly string[]): string {
  const last = lastStop(prompt, Infinity, stops);
  const before = last === undefined ? undefined : lastStop(prompt, last.at, stops);
  return before === undefined ? prompt : prompt.slice(before.at + before.stop.length);
}

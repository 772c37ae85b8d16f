import type { Message, Part } from "@mrlm/spec";

/** Messages of the policy that a window keeps, the last one included. */
const KEPT_ANSWERS = 4;
/** Shorter histories are rendered whole. */
const MIN_OMITTED = 8;

/** Forms of the messages that a window omits. */
export interface OmittedForms {
  readonly calls: boolean;
  readonly thinking: boolean;
}

/** Beginning and end of a conversation, from which a template that reads only nearby messages renders the same end. */
export interface ConversationWindow {
  readonly messages: readonly Message[];
  readonly forms: OmittedForms;
  /** Texts of the omitted messages. */
  readonly texts: () => string[];
}

/**
 * Returns a window of a history that ends with a message of the policy: the messages up to the first one of the user, and the last four turns. It omits an even
 * number of messages of plain forms, no call without its result, and reasoning only if a kept turn has some, so that a template shows that it drops reasoning.
 * `undefined` if there is no such window.
 */
export function windowOf(history: readonly Message[]): ConversationWindow | undefined {
  if (history.length < MIN_OMITTED + KEPT_ANSWERS) return undefined;
  const first = history.findIndex(({ role }) => role === "user");
  const begin = first + 1;
  if (first < 0 || first > 1 || history[begin]?.role !== "assistant" || history.at(-1)?.role !== "assistant")
    return undefined;
  let answers = 0;
  let hasThinking = false;
  const results = new Set<string>();
  for (let end = history.length - 1; end >= begin + MIN_OMITTED; end--) {
    const { role, parts } = history[end] as Message;
    // From the end: a result is seen before its call.
    for (const part of parts) if (part.type === "tool-result") results.add(part.id);
    for (const part of parts) if (part.type === "tool-call") results.delete(part.id);
    if (role !== "assistant") continue;
    answers++;
    // Whether the reasoning of the last message is dropped does not depend on earlier messages.
    if (end < history.length - 1) hasThinking ||= parts.some(isThinking);
    if (answers >= KEPT_ANSWERS && results.size === 0) {
      const omitted = history.slice(begin, end);
      // Some templates compare the parity of places. Each result becomes a message of its own.
      const count = omitted.reduce((sum, message) => sum + (message.role === "tool" ? message.parts.length : 1), 0);
      if (count % 2 === 1) continue;
      const forms = formsOf(omitted);
      if (forms === undefined) return undefined;
      if (hasThinking || !forms.thinking)
        return {
          messages: [...history.slice(0, begin), ...history.slice(end)],
          forms,
          texts: () => omitted.flatMap(({ parts: each }) => each.flatMap(textsOf)),
        };
    }
  }
  return undefined;
}

/** Returns the forms of messages; `undefined` for any but texts of the user, answers, and results of tools. */
function formsOf(messages: readonly Message[]): OmittedForms | undefined {
  const types = new Set<Part["type"]>();
  for (const { role, name, parts } of messages) {
    const isPlain = parts.every(({ type }) =>
      role === "user"
        ? type === "text"
        : role === "assistant"
          ? type !== "image" && type !== "tool-result"
          : role === "tool" && type === "tool-result",
    );
    const isBlank = !parts.some((part) => !("text" in part) || part.text.trim() !== "");
    if (!isPlain || isBlank || name !== undefined) return undefined;
    for (const part of parts) if (part.type !== "thinking" || isThinking(part)) types.add(part.type);
  }
  return { calls: types.has("tool-call") || types.has("tool-result"), thinking: types.has("thinking") };
}

function isThinking(part: Part): boolean {
  return part.type === "thinking" && part.text.trim() !== "";
}

function textsOf(part: Part): string[] {
  if ("text" in part) return [part.text];
  if (part.type === "tool-call") return [part.name, JSON.stringify(part.arguments)];
  return part.type === "tool-result" ? part.content.flatMap(textsOf) : [];
}

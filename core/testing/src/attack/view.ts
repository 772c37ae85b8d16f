import type { Message, ToolDefinition } from "@mrlm/spec";
import { KINDS, type SpanKind } from "./spans.ts";

/**
 * Part of what an agent has read.
 * - `question`: the last message of the first observation; `system`: the messages before it;
 * - `latest`: what is new since the agent's last message;
 * - `all`: everything that the agent has read; `tools`: descriptions and schemas of the tools.
 */
export type Area = "question" | "system" | "latest" | "all" | "tools";

/** Conversation of an agent before one of its turns: all that a program knows. */
export class View {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** The agent's name, which it knows. */
  readonly agent: string;
  /** Number of the agent's messages so far. */
  readonly turn: number;
  readonly #areas = new Map<Area, string>();
  readonly #spans = new Map<string, readonly string[]>();

  constructor(messages: readonly Message[], tools: readonly ToolDefinition[], agent: string) {
    this.agent = agent;
    this.messages = messages;
    this.tools = tools;
    this.turn = messages.filter(isOwn).length;
  }

  text(area: Area): string {
    const known = this.#areas.get(area);
    if (known !== undefined) return known;
    const text = this.#read(area);
    this.#areas.set(area, text);
    return text;
  }

  /** Returns the spans of a kind in the order in which they stand. */
  spans(area: Area, kind: SpanKind): readonly string[] {
    const key = `${area} ${kind}`;
    const known = this.#spans.get(key);
    if (known !== undefined) return known;
    const spans = KINDS[kind].find(this.text(area));
    this.#spans.set(key, spans);
    return spans;
  }

  #read(area: Area): string {
    const { messages } = this;
    const first = messages.findIndex(isOwn);
    const opening = first < 0 ? messages : messages.slice(0, first);
    if (area === "tools")
      return this.tools
        .map(({ description, parameters }) => `${description}\n${JSON.stringify(parameters)}`)
        .join("\n");
    if (area === "question") return readText(opening.at(-1));
    if (area === "system") return opening.slice(0, -1).map(readText).join("\n");
    const read = area === "all" ? messages : messages.slice(messages.findLastIndex(isOwn) + 1);
    return read
      .filter((message) => !isOwn(message))
      .map(readText)
      .join("\n");
  }
}

function isOwn({ role }: Message): boolean {
  return role === "assistant";
}

/** Returns the text of a message, with that of the results of tools. */
export function readText(message: Message | undefined): string {
  const texts = (message?.parts ?? []).map((part) => {
    if (part.type === "text") return part.text;
    if (part.type !== "tool-result") return "";
    return part.content.map((each) => (each.type === "text" ? each.text : "")).join("");
  });
  return texts.join("");
}

import {
  type AgentId,
  type Message,
  type Observation,
  type Part,
  textMessage,
  toolCalls,
  type ToolDefinition,
} from "@mrlm/kit";
import type { ResearchOptions } from "./options.ts";

/** Request for a summary, with `context: summary`. */
export const SUMMARY_REQUEST =
  "Summarise what you know that helps to reach the goal, and what is left to do. The conversation starts over with your summary. Call no tool.";

/**
 * Conversation of one agent. With `drop_results` and `summary` it starts over after results, so that it stays short however many pages the agent reads
 * (the context management of AgentCPM).
 */
export class Conversation {
  readonly agent: AgentId;
  readonly #prompt: Message;
  readonly #mode: ResearchOptions["context"];
  /** Calls of the turns so far as text. */
  readonly #calls: string[] = [];
  #awaitsSummary = false;

  constructor(agent: AgentId, prompt: Message, mode: ResearchOptions["context"]) {
    this.agent = agent;
    this.#prompt = prompt;
    this.#mode = mode;
  }

  /** Whether the next message is a summary. */
  get awaitsSummary(): boolean {
    return this.#awaitsSummary;
  }

  /** Returns the first observation. */
  start(tools: readonly ToolDefinition[]): Observation {
    return { agent: this.agent, messages: [this.#prompt], tools };
  }

  /** Returns the observation after the results of a message's calls. */
  show(message: Message, results: readonly Message[]): Observation {
    const { agent } = this;
    const isFirst = this.#calls.length === 0;
    this.#calls.push(...toolCalls(message).map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`));
    if (this.#mode === "summary") {
      this.#awaitsSummary = true;
      return { agent, messages: [...results, textMessage("user", SUMMARY_REQUEST)] };
    }
    if (this.#mode === "keep" || isFirst) return { agent, messages: results };
    const calls = this.#calls.map((call, i) => `${i + 1}. ${call}`);
    const text = `Your calls so far, in order. Only the results of the last message are shown.\n${calls.join("\n")}\n\nResults:\n${results.map(textOf).join("\n")}`;
    return this.#startOver(text);
  }

  /** Returns the observation after a summary. */
  summarised(summary: string): Observation {
    this.#awaitsSummary = false;
    return this.#startOver(`Your summary so far:\n${summary.trim() === "" ? "(empty)" : summary}`);
  }

  #startOver(text: string): Observation {
    return { agent: this.agent, messages: [this.#prompt, textMessage("user", text)], isFresh: true };
  }
}

/** Returns the text of a message and of the results in it. */
export function textOf({ parts }: Message): string {
  const content = parts.flatMap((part): readonly Part[] => (part.type === "tool-result" ? part.content : [part]));
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

import { type AgentId, type JsonValue, type JudgeRequest, type Message, messageText, toolCalls } from "@mrlm/kit";
import type { LlmOptions } from "./options.ts";

/** Conversation under the labels of one request. */
export interface LabelledConversation {
  /** Lines of data. */
  readonly items: readonly JsonValue[];
  /** Messages that are cut. */
  readonly cut: number;
}

/**
 * Returns the conversation as data. The agents are labelled A, B, ... in the order of `order`; agents that have turns alone follow. In a conversation that is
 * too long each agent has the same share of the characters, and its longest messages are cut: the text of one takes nothing from another.
 */
export function labelConversation(
  { question, turns }: JudgeRequest,
  order: readonly AgentId[],
  options: Pick<LlmOptions, "turns" | "max_characters" | "max_conversation_characters">,
): LabelledConversation {
  const agents = [...new Set([...order, ...turns.map(({ agent }) => agent)])];
  const labels = new Map(agents.map((agent, index) => [agent, labelOf(index)]));
  const lengths = agents.map((agent) =>
    turns
      .filter((turn) => turn.agent === agent)
      .map(({ message }) => Math.min(textOf(message).length, options.max_characters)),
  );
  const share = longestOf(lengths.map(sumOf), options.max_conversation_characters);
  const longest = new Map(
    agents.map((agent, i) => [agent, Math.min(options.max_characters, longestOf(lengths[i] as number[], share))]),
  );
  let cut = 0;
  const lines = turns.map(({ agent, message }) => {
    const whole = textOf(message);
    const read = longest.get(agent) as number;
    const left = whole.length - read;
    if (left > 0) cut++;
    return {
      agent,
      line: {
        speaker: labels.get(agent) as string,
        text: whole.slice(0, read),
        ...(left > 0 ? { cut: `The message is longer. ${left} characters were left out.` } : {}),
      },
    };
  });
  const grouped =
    options.turns === "chronological"
      ? lines
      : agents.flatMap((speaker) => lines.filter(({ agent }) => agent === speaker));
  return {
    items: [
      ...(question === undefined ? [] : [{ subject: question }]),
      { participants: Object.fromEntries(agents.map((agent) => [labels.get(agent) as string, agent])) },
      ...grouped.map(({ line }) => line),
    ],
    cut,
  };
}

/** Returns the characters of a conversation before it is cut. */
export function charactersOf({ turns }: JudgeRequest): number {
  return sumOf(turns.map(({ message }) => textOf(message).length));
}

function textOf(message: Message): string {
  const calls = toolCalls(message).map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given }));
  return [messageText(message), ...calls].join("\n");
}

/** Returns the largest length to which texts can be cut so that they have at most `total` characters together; Infinity where none is cut. */
function longestOf(lengths: readonly number[], total: number): number {
  let left = total;
  for (const [index, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}

const sumOf = (lengths: readonly number[]): number => lengths.reduce((sum, length) => sum + length, 0);

/** A to Z, then P26, P27, ... */
const labelOf = (index: number): string => (index < 26 ? String.fromCharCode(65 + index) : `P${index}`);

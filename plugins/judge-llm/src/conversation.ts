import { messageText, toolCalls } from "@mrlm/kit";
import type { AgentId, JsonValue, JudgeRequest } from "@mrlm/spec";

/** Conversation under the labels of one request. */
export interface LabelledConversation {
  /** Lines of data. */
  readonly items: readonly JsonValue[];
  /** Messages that are cut. */
  readonly cut: number;
}

/** Returns the conversation as data. The agents are labelled A, B, ... in the order of `order`; agents that have turns alone follow. */
export function labelConversation(
  { question, turns }: JudgeRequest,
  order: readonly AgentId[],
  { grouping, maxCharacters }: { grouping: "chronological" | "by_agent"; maxCharacters: number },
): LabelledConversation {
  const agents = [...new Set([...order, ...turns.map(({ agent }) => agent)])];
  const labels = new Map(agents.map((agent, index) => [agent, labelOf(index)]));
  let cut = 0;
  const lines = turns.map(({ agent, message }) => {
    const text = messageText(message);
    const calls = toolCalls(message).map((call) => ({ name: call.name, arguments: call.arguments }));
    const isCut = text.length > maxCharacters;
    if (isCut) cut++;
    return {
      agent,
      line: {
        speaker: labels.get(agent) as string,
        text: isCut ? text.slice(0, maxCharacters) : text,
        ...(isCut ? { cut: `The message is longer. ${text.length - maxCharacters} characters were left out.` } : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
    };
  });
  const grouped =
    grouping === "chronological" ? lines : agents.flatMap((speaker) => lines.filter(({ agent }) => agent === speaker));
  return {
    items: [
      ...(question === undefined ? [] : [{ subject: question }]),
      { participants: Object.fromEntries(agents.map((agent) => [labels.get(agent) as string, agent])) },
      ...grouped.map(({ line }) => line),
    ],
    cut,
  };
}

/** A to Z, then P26, P27, ... */
const labelOf = (index: number): string => (index < 26 ? String.fromCharCode(65 + index) : `P${index}`);

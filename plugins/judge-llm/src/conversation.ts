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
    const calls = toolCalls(message).map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given }));
    const whole = [text, ...calls].join("\n");
    const left = whole.length - maxCharacters;
    if (left > 0) cut++;
    return {
      agent,
      line: {
        speaker: labels.get(agent) as string,
        text: whole.slice(0, maxCharacters),
        ...(left > 0 ? { cut: `The message is longer. ${left} characters were left out.` } : {}),
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

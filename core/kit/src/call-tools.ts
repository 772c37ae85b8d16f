import type { MalformedCallPart, Message, Tool, ToolCallPart, ToolResultPart } from "@mrlm/spec";
import { textMessage, toolCalls } from "./messages.ts";

/**
 * Runs all calls of a policy's message at the same time. They begin in call order. A call that fails does not cancel the others; if a tool is broken, the
 * promise rejects with the first error in call order, after all calls have ended.
 *
 * @param tools tools of the episode
 * @param message message of the policy
 * @returns messages of role `tool` for the next observation: one with the results in call order, then one of text with the faults of malformed calls; none for
 *   a message without calls
 */
export async function callTools(
  tools: readonly Tool[],
  message: Message,
  options: { readonly signal: AbortSignal },
): Promise<Message[]> {
  const ended = await Promise.allSettled(toolCalls(message).map((call) => callTool(tools, call, options)));
  const broken = ended.find((outcome) => outcome.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  const results = ended.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const malformed = message.parts.filter((part) => part.type === "malformed-call");
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
    ...(malformed.length === 0 ? [] : [textMessage("tool", malformed.map(faultText).join("\n"))]),
  ];
}

async function callTool(
  tools: readonly Tool[],
  { id, name, arguments: given }: ToolCallPart,
  { signal }: { readonly signal: AbortSignal },
): Promise<ToolResultPart> {
  const tool = tools.find((candidate) => candidate.name === name);
  const { content, isError } =
    tool === undefined
      ? { content: [{ type: "text" as const, text: unknownText(name, tools) }], isError: true }
      : await tool.call(given, { signal });
  return { type: "tool-result", id, name, content, isError };
}

function unknownText(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(", ");
  return `There is no tool ${quoted(name)}. ${names === "" ? "No tool is available." : `Available tools: ${names}.`}`;
}

function faultText({ text, error, offset }: MalformedCallPart): string {
  return `A tool call is malformed and was not run. ${error} The fault is at character ${offset + 1} of ${quoted(text)}.`;
}

/** Returns text in quotation marks, shortened to 80 characters. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}

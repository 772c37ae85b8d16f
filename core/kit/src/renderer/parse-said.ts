import type { JsonObject, Message, Part } from "@mrlm/spec";

const THINKING = /^\s*<think>([\s\S]*?)<\/think>\s*/;
const TOOL_CALL = /<tool_call>\s*([\s\S]*?)\s*<\/tool_call>/g;

/**
 * What a policy said, from its text: reasoning in `<think>`, tool calls as JSON in `<tool_call>` (the Hermes form, which Qwen and many
 * others write), the rest as text. A tool call that is not well formed stays text, so that the environment can say so.
 */
export function parseSaid(text: string): Message {
  const parts: Part[] = [];
  let rest = text;
  const thinking = THINKING.exec(rest);
  if (thinking) {
    parts.push({ type: "thinking", text: (thinking[1] as string).trim() });
    rest = rest.slice(thinking[0].length);
  }
  let end = 0;
  for (const match of rest.matchAll(TOOL_CALL)) {
    const call = parseCall(match[1] as string);
    if (call === undefined) continue;
    pushText(parts, rest.slice(end, match.index));
    parts.push({ type: "tool-call", id: `call_${parts.length}`, ...call });
    end = match.index + match[0].length;
  }
  pushText(parts, rest.slice(end));
  return { role: "assistant", parts };
}

function pushText(parts: Part[], text: string): void {
  if (text.trim() !== "" || (parts.length === 0 && text !== "")) parts.push({ type: "text", text });
}

function parseCall(json: string): { name: string; arguments: JsonObject } | undefined {
  try {
    const call = JSON.parse(json) as { name?: unknown; arguments?: unknown };
    if (typeof call.name !== "string" || typeof call.arguments !== "object" || call.arguments === null || Array.isArray(call.arguments)) return undefined;
    return { name: call.name, arguments: call.arguments as JsonObject };
  } catch {
    return undefined;
  }
}

import type { JsonObject, Message, Part } from "@mrlm/spec";

const THINKING = /^\s*<think>([\s\S]*?)<\/think>\s*/;
const CALL_BEGINS = "<tool_call>";
const CALL_ENDS = "</tool_call>";

/**
 * Parses the text of a policy: reasoning in `<think>`, tool calls as JSON in `<tool_call>` (the Hermes form, which Qwen and many others write), the rest
 * as text. A malformed tool call stays text, so that the environment can report it to the policy.
 */
export function parseCompletion(text: string): Message {
  const parts: Part[] = [];
  let rest = text;
  const thinking = THINKING.exec(rest);
  if (thinking) {
    parts.push({ type: "thinking", text: (thinking[1] as string).trim() });
    rest = rest.slice(thinking[0].length);
  }
  let parsed = 0;
  // No regular expression: its time would be quadratic in the number of repeated markers.
  for (let end = 0; ;) {
    const begin = rest.indexOf(CALL_BEGINS, end);
    const close = begin < 0 ? -1 : rest.indexOf(CALL_ENDS, begin);
    if (close < 0) break;
    end = close + CALL_ENDS.length;
    const call = parseCall(rest.slice(begin + CALL_BEGINS.length, close));
    if (call === undefined) continue;
    pushText(parts, rest.slice(parsed, begin));
    parts.push({ type: "tool-call", id: `call_${parts.length}`, ...call });
    parsed = end;
  }
  pushText(parts, rest.slice(parsed));
  return { role: "assistant", parts };
}

function pushText(parts: Part[], text: string): void {
  if (text.trim() !== "" || (parts.length === 0 && text !== "")) parts.push({ type: "text", text });
}

function parseCall(json: string): { name: string; arguments: JsonObject } | undefined {
  try {
    const call = JSON.parse(json.trim()) as { name?: unknown; arguments?: unknown };
    if (
      typeof call.name !== "string" ||
      typeof call.arguments !== "object" ||
      call.arguments === null ||
      Array.isArray(call.arguments)
    )
      return undefined;
    return { name: call.name, arguments: call.arguments as JsonObject };
  } catch {
    return undefined;
  }
}

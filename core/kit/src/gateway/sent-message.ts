import type { Message, Part } from "@mrlm/spec";
import { findStop } from "./stop-strings.ts";

/** Returns the part of an answer before the first stop string in its text, and that stop string. */
export function sentMessage(
  message: Message,
  stops: readonly string[],
): { readonly message: Message; readonly stop?: string } {
  const parts: Part[] = [];
  let text = "";
  for (const part of message.parts) {
    if (part.type !== "text" && part.type !== "malformed-call") {
      parts.push(part);
      continue;
    }
    const before = text.length;
    text += part.text;
    const stop = findStop(text, stops, before);
    if (stop !== undefined)
      return {
        message: { ...message, parts: cut([...parts, part], stop.start) },
        stop: text.slice(stop.start, stop.end),
      };
    parts.push(part);
  }
  return { message };
}

/** Cuts the text of parts after `length` characters. */
function cut(parts: readonly Part[], length: number): Part[] {
  let left = length;
  return parts.flatMap((part): Part[] => {
    if (part.type !== "text" && part.type !== "malformed-call")
      return left > 0 || part.type === "thinking" ? [part] : [];
    const text = part.text.slice(0, left);
    left -= text.length;
    return text === "" ? [] : [text === part.text ? part : { type: "text", text }];
  });
}

import type { Message } from "@mrlm/spec";
import { CompletionParser } from "../../src/renderer/completion-parser.ts";
import { TOOL_FORMATS, type ToolFormatName } from "../../src/renderer/formats/formats.ts";
import { callIds, MessageBuilder } from "../../src/renderer/completion-stream.ts";

/**
 * Parses the text of a policy: reasoning in `<think>`, calls in the given format, the rest as text. Malformed calls stay text. Use `chatRenderer` for
 * tokens: markers that are special tokens are not in the text.
 */
export function parseCompletion(text: string, toolFormat: ToolFormatName = "hermes"): Message {
  const nextId = callIds();
  const parser = new CompletionParser({
    name: toolFormat,
    format: TOOL_FORMATS[toolFormat],
    specials: new Set(),
    thinking: { open: "<think>", close: "</think>" },
    isThinking: false,
    tools: undefined,
    nextId: (call) => nextId(call.id),
  });
  const builder = new MessageBuilder(false);
  for (const part of [...parser.push(text), ...parser.end()]) builder.add(part);
  return builder.build();
}

import type { ImagePart, Message, MessageRole, Part, TextPart, ToolDefinition } from "@mrlm/spec";
import { plainBytes } from "../bytes.ts";
import type * as wire from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";
import { fromJson } from "../json.ts";

const ROLES: ReadonlySet<string> = new Set<MessageRole>(["system", "user", "assistant", "tool"]);

export function encodeMessage(message: Message): wire.Message {
  return { role: message.role, name: message.name ?? "", parts: message.parts.map(encodePart) };
}

export function decodeMessage(message: wire.Message): Message {
  const { role, name } = message;
  if (!ROLES.has(role)) throw invalid(`a message has the role "${role}"`);
  const parts = message.parts.map(decodePart);
  return name === "" ? { role: role as MessageRole, parts } : { role: role as MessageRole, name, parts };
}

export function encodeTool(tool: ToolDefinition): wire.ToolDefinition {
  return { name: tool.name, description: tool.description, parametersJson: JSON.stringify(tool.parameters) };
}

export function decodeTool({ name, description, parametersJson }: wire.ToolDefinition): ToolDefinition {
  return { name, description, parameters: fromJson(parametersJson, `the parameters of tool "${name}"`) };
}

export function encodePart(part: Part): wire.Part {
  switch (part.type) {
    case "text":
      return { part: { $case: "text", text: { text: part.text } } };
    case "thinking":
      return { part: { $case: "thinking", thinking: { text: part.text } } };
    case "image": {
      const { source } = part;
      return {
        part: {
          $case: "image",
          image: {
            mediaType: part.mediaType,
            source: "data" in source ? { $case: "data", data: source.data } : { $case: "url", url: source.url },
          },
        },
      };
    }
    case "tool-call":
      return {
        part: {
          $case: "toolCall",
          toolCall: { id: part.id, name: part.name, argumentsJson: JSON.stringify(part.arguments) },
        },
      };
    case "malformed-call": {
      const { text, format, error, offset } = part;
      return { part: { $case: "malformedCall", malformedCall: { text, format, error, offset } } };
    }
    case "tool-result":
      return {
        part: {
          $case: "toolResult",
          toolResult: { id: part.id, name: part.name, parts: part.content.map(encodePart), isError: part.isError },
        },
      };
    default:
      throw invalid(`a part has the type "${(part as { type: unknown }).type}", which the protocol does not know`);
  }
}

export function decodePart({ part }: wire.Part): Part {
  switch (part?.$case) {
    case "text":
      return { type: "text", text: part.text.text };
    case "thinking":
      return { type: "thinking", text: part.thinking.text };
    case "image": {
      const { mediaType, source } = part.image;
      if (source === undefined) throw invalid("an image has neither data nor url");
      return {
        type: "image",
        mediaType,
        source: source.$case === "data" ? { data: plainBytes(source.data) } : { url: source.url },
      };
    }
    case "toolCall": {
      const { id, name, argumentsJson } = part.toolCall;
      return { type: "tool-call", id, name, arguments: fromJson(argumentsJson, `the arguments of tool call "${id}"`) };
    }
    case "malformedCall":
      return { type: "malformed-call", ...part.malformedCall };
    case "toolResult": {
      const { id, name, parts, isError } = part.toolResult;
      return { type: "tool-result", id, name, content: parts.map(decodeContent), isError };
    }
    default:
      throw invalid("a part is of a kind that this version does not know");
  }
}

function decodeContent(part: wire.Part): TextPart | ImagePart {
  const decoded = decodePart(part);
  if (decoded.type === "text" || decoded.type === "image") return decoded;
  throw invalid(`a tool result holds a part of type "${decoded.type}"`);
}

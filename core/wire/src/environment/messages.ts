import type { Message, MessageRole, ToolDefinition } from "@mrlm/spec";
import type * as wire from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";
import { fromJson } from "../json.ts";
import { decodePart, encodePart } from "./parts.ts";

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

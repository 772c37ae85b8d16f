import { isObject, type Observation, type Part, type ToolDefinition } from "@mrlm/spec";
import type { PageSeat } from "@mrlm/ui";

/** Item of a seat, as the page of the viewer takes it. */
export type SeatItem = Parameters<PageSeat["add"]>[0];

/** Returns what a person is shown of an observation. */
export function observedItems({ agent, messages, isFresh, tools = [] }: Observation): SeatItem[] {
  return [
    ...(agent === "agent" ? [] : [{ kind: "text", text: `You are ${agent}.` } as const]),
    ...(isFresh === true ? [{ kind: "text", text: "(the conversation starts over)" } as const] : []),
    ...messages.map(({ role, name, parts }) => ({
      kind: "message" as const,
      author: name === undefined ? role : `${role} ${name}`,
      text: parts.map(partText).join("\n"),
    })),
    ...(tools.length === 0 ? [] : [{ kind: "tools", tools: tools.map(toolText) } as const]),
  ];
}

function partText(part: Part): string {
  if (part.type === "text") return part.text;
  if (part.type === "thinking") return `[thinking] ${part.text}`;
  if (part.type === "image")
    return "data" in part.source ? `[${part.mediaType}, ${part.source.data.length} bytes]` : part.source.url;
  if (part.type === "tool-call") return `[calls ${part.name}(${JSON.stringify(part.arguments)})]`;
  if (part.type === "malformed-call") return `[malformed call: ${part.error}]`;
  return `${part.isError ? "[error] " : ""}${part.name}: ${part.content.map(partText).join("\n")}`;
}

/** Formats a tool: name, names of its arguments, description. */
function toolText({ name, description, parameters }: ToolDefinition): string {
  const properties = isObject(parameters["properties"]) ? Object.keys(parameters["properties"]) : [];
  return `/${name} {${properties.join(", ")}}  ${description}`;
}

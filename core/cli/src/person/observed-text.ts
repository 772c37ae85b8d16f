import { isObject, type Message, type Part, type ToolDefinition } from "@mrlm/spec";

/** Returns the author of a message: its role, with the name among several of it. */
export function authorOf({ role, name }: Message): string {
  return name === undefined ? role : `${role} ${name}`;
}

/** Formats the content of a message for a person. */
export function contentText({ parts }: Message): string {
  return parts.map(partText).join("\n");
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
export function toolText({ name, description, parameters }: ToolDefinition): string {
  const properties = isObject(parameters["properties"]) ? Object.keys(parameters["properties"]) : [];
  return `/${name} {${properties.join(", ")}}  ${description}`;
}

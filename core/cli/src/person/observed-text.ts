import { isObject, type Message, type Part, type ToolDefinition } from "@mrlm/spec";

/** Formats a message of an observation for a person. */
export function observedText({ role, name, parts }: Message): string {
  return `${role}${name === undefined ? "" : ` ${name}`}: ${parts.map(partText).join("\n")}`;
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

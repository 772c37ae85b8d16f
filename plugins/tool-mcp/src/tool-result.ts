import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ImagePart, TextPart, ToolResult } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import type { ListedTool } from "./connection.ts";
import { outputFault } from "./schemas.ts";
import type { Redact } from "./variables.ts";

/** Converts a server's result to that of a tool. Nothing of it is left out without a statement in the text. */
export function toolResult(tool: ListedTool, result: CallToolResult, redact: Redact): ToolResult {
  const { content, structuredContent, isError = false } = result;
  const parts = content.map((block) => partOf(block, redact));
  const fault = isError ? undefined : structureFault(tool, structuredContent);
  if (structuredContent !== undefined && (fault !== undefined || !hasAsText(content, structuredContent)))
    parts.push(text(redact(JSON.stringify(structuredContent))));
  if (fault !== undefined)
    parts.unshift(text(`The result violates the output schema of ${tool.name}: ${redact(fault)}. It was:`));
  if (parts.length === 0) parts.push(text("The tool returned no content."));
  return { content: parts, isError: isError || fault !== undefined };
}

/** Creates a result with `isError` from a text. */
export function errorResult(message: string): ToolResult {
  return { content: [text(message)], isError: true };
}

export function text(value: string): TextPart {
  return { type: "text", text: value };
}

function structureFault({ outputSchema }: ListedTool, value: unknown): string | undefined {
  if (outputSchema === undefined) return undefined;
  return value === undefined ? "it has no structured content" : outputFault(outputSchema, value);
}

/**
 * Whether a text of the content repeats the structured content, as servers do for clients that know text only: as JSON, or as the one value of a wrapping
 * object (`{ content: TEXT }`).
 */
function hasAsText(content: readonly ContentBlock[], structured: unknown): boolean {
  const values = typeof structured === "object" && structured !== null ? Object.values(structured) : [];
  const forms = values.length === 1 ? [structured, values[0]] : [structured];
  return content.some((block) => {
    if (block.type !== "text") return false;
    const parsed = parsedJson(block.text);
    return forms.some((form) => form === block.text || isDeepStrictEqual(parsed, form));
  });
}

/** Parses JSON; other texts give `undefined`, which no JSON value equals. */
function parsedJson(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
}

function partOf(block: ContentBlock, redact: Redact): TextPart | ImagePart {
  switch (block.type) {
    case "text":
      return text(redact(block.text));
    case "image":
      return image(block.mimeType, block.data);
    case "audio":
      return text(`[Audio ${block.mimeType} of ${bytesOf(block.data)} bytes, which cannot be shown]`);
    case "resource_link":
      return text(redact(`[Resource ${block.name}: ${block.uri}]`));
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return text(redact(`[Resource ${resource.uri}]\n${resource.text}`));
      if (resource.mimeType?.startsWith("image/") === true) return image(resource.mimeType, resource.blob);
      const kind = resource.mimeType ?? "of unknown type";
      return text(redact(`[Resource ${resource.uri}: ${bytesOf(resource.blob)} bytes ${kind}, which cannot be shown]`));
    }
    default:
      return text(`[Content of type ${String((block as { type: unknown }).type)}, which cannot be shown]`);
  }
}

function image(mediaType: string, data: string): ImagePart {
  return { type: "image", mediaType, source: { data: Buffer.from(data, "base64") } };
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

import { type JsonObject, parseJson, type ToolDefinition } from "@mrlm/spec";
import { z } from "zod";
import { isJsonObject } from "./chat-message.ts";

const definition = z.object({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z
    .union([z.string().refine(isJsonObject, "must be a JSON object"), z.record(z.string(), z.json())])
    .nullish(),
});

/**
 * Schema of tools in data files: the form of Hugging Face chat data, `{ type, function: { name, description, parameters } }`, without the outer object, or the
 * list as JSON text.
 */
export const chatTools = z.preprocess(
  (value) => (typeof value === "string" ? parse(value) : value),
  z.array(z.union([z.object({ function: definition }), definition])),
);

/** Parsed {@link chatTools}. */
export type ChatTools = z.output<typeof chatTools>;

/** Converts tools. Their parameters become JSON text, so that all rows have the same columns. */
export function toChatTools(tools: readonly ToolDefinition[]): ChatTools {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters: JSON.stringify(parameters) },
  }));
}

/** Converts the tools of a data file. */
export function fromChatTools(tools: ChatTools): ToolDefinition[] {
  return tools.map((tool) => {
    const { name, description, parameters } = "function" in tool ? tool.function : tool;
    const schema = typeof parameters === "string" ? parseJson(parameters) : (parameters ?? {});
    return { name, description: description ?? "", parameters: schema as JsonObject };
  });
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

import { type JsonObject, messageText, type OpenToolset, type ToolResult } from "@mrlm/kit";
import { dynamicTool, jsonSchema, type ToolSet } from "ai";
import { modelOutputOf } from "./tool-content.ts";

/**
 * Returns the tools of an open toolset as a ToolSet. The output of a call is its text, or its content if that has pictures. A result with `isError` is thrown,
 * so that the model reads its text as an error; an error of a broken tool is thrown as it is. A toolset that replaces its tools needs another call, for example
 * in `prepareStep`.
 */
export function toAiTools({ tools }: Pick<OpenToolset, "tools">): ToolSet {
  const entries = tools.map((tool) => [
    tool.name,
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.parameters),
      async execute(input, { abortSignal = new AbortController().signal }) {
        const { content, isError } = await tool.call(input as JsonObject, { signal: abortSignal });
        const text = messageText({ role: "tool", parts: content });
        if (isError) throw unnamed(text);
        return content.every((part) => part.type === "text") ? text : content;
      },
      toModelOutput: ({ output }) =>
        typeof output === "string" ? { type: "text", value: output } : modelOutputOf(output as ToolResult["content"]),
    }),
  ]);
  return Object.fromEntries(entries);
}

/** Returns an error of which a model reads the message alone, without the name of its class. */
function unnamed(message: string): Error {
  return Object.assign(new Error(message), { name: "" });
}

import { type Message, MrlmError, type ToolDefinition } from "@mrlm/spec";
import { messageText, toolCalls } from "../messages.ts";
import { Template } from "./packages.ts";

/** Renders a conversation as text by the Jinja template of a model. */
export type ChatTemplate = (
  messages: readonly Message[],
  tools: readonly ToolDefinition[] | undefined,
  addGenerationPrompt: boolean,
) => string;

/**
 * Compiles a Hugging Face chat template.
 *
 * @param variables variables of templates other than the messages (`bos_token`, ...)
 * @param escape applied to every string of messages and tools, so that none of them can become a special token
 */
export function compileChatTemplate(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  escape: (content: string) => string = (content) => content,
): ChatTemplate {
  let template: InstanceType<typeof Template>;
  try {
    template = new Template(source);
  } catch (cause) {
    throw new MrlmError("TOKENIZER_INVALID", `The chat template cannot be parsed: ${(cause as Error).message}`, {
      cause,
    });
  }
  return (messages, tools, addGenerationPrompt) => {
    try {
      return template.render({
        ...variables,
        messages: messages.map((message) => mapStrings(toTemplateMessage(message), escape)),
        ...(tools === undefined || tools.length === 0
          ? {}
          : { tools: tools.map((tool) => mapStrings(toTemplateTool(tool), escape)) }),
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (cause) {
      throw new MrlmError(
        "TOKENIZER_INVALID",
        `The chat template refused the conversation: ${(cause as Error).message}`,
        {
          hint: "A template may refuse roles, or orders of roles, that its model was not trained on.",
          cause,
        },
      );
    }
  };
}

/** Converts a message to the form that chat templates read. */
function toTemplateMessage(message: Message): Record<string, unknown> {
  if (message.parts.some((part) => part.type === "image")) {
    throw new MrlmError(
      "TOKENIZER_INVALID",
      "The conversation holds a picture, which a text model's template cannot render.",
    );
  }
  const reasoning = message.parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const calls = toolCalls(message);
  const results = message.parts.filter((part) => part.type === "tool-result");
  const resultText = results
    .flatMap((result) => result.content.map((part) => (part.type === "text" ? part.text : "")))
    .join("");
  return {
    role: message.role,
    content: messageText(message) + resultText,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
    ...(results[0] === undefined ? {} : { tool_call_id: results[0].id, name: results[0].name }),
  };
}

function toTemplateTool(tool: ToolDefinition): Record<string, unknown> {
  return {
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  };
}

/** Returns a copy of a JSON value with all strings replaced, including keys. */
function mapStrings(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((member) => mapStrings(member, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replace(key), mapStrings(member, replace)]));
}

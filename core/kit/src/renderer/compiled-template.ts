import { type JsonObject, MrlmError, type ToolDefinition } from "@mrlm/spec";
import { Template } from "./packages.ts";

/** Message in the form that chat templates read. */
export interface TemplateMessage {
  readonly role: string;
  readonly content: string | null;
  readonly name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: JsonObject | string };
  }[];
  readonly tool_call_id?: string;
}

/** Renders messages in the form that templates read. */
export type CompiledTemplate = (
  messages: readonly TemplateMessage[],
  tools: readonly ToolDefinition[] | undefined,
  addGenerationPrompt: boolean,
) => string;

/**
 * Compiles a Hugging Face chat template. Throws TOKENIZER_INVALID if it cannot be parsed.
 *
 * @param variables variables of templates other than the messages (`bos_token`, ...)
 * @param escape applied to every string of tools, so that none of them can become a special token
 */
export function compileTemplate(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  escape: (content: string) => string,
): CompiledTemplate {
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
        messages,
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

/** Returns a tool in the form that chat templates read. */
export function toTemplateTool(tool: ToolDefinition): Record<string, unknown> {
  return {
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  };
}

/** Returns a copy of a JSON value with all strings replaced, including keys. */
export function mapStrings(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((member) => mapStrings(member, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replace(key), mapStrings(member, replace)]));
}

import { type Message, MrlmError, type ToolDefinition } from "@mrlm/spec";
import type { ToolFormat } from "./formats/format.ts";
import { Template } from "./packages.ts";
import { type TemplateMessage, mapStrings, templateMessages } from "./template-messages.ts";
import { type TemplateStyle, probeStyle } from "./template-style.ts";
import type { TextTokenizer } from "./tokenizer.ts";

/** Renders a conversation as text by the Jinja template of a model. */
export type ChatTemplate = (
  messages: readonly Message[],
  tools: readonly ToolDefinition[] | undefined,
  addGenerationPrompt: boolean,
) => string;

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

/** Returns a template for messages. Calls are rendered in the style that the template supports. */
export function chatTemplate(
  compiled: CompiledTemplate,
  format: ToolFormat,
  tokenizer: Pick<TextTokenizer, "escape" | "idOf">,
): ChatTemplate {
  const hasToken = (marker: string): boolean => tokenizer.idOf(marker) !== undefined;
  let known: TemplateStyle | undefined;
  const style = (): TemplateStyle => (known ??= probeStyle(compiled));
  return (messages, tools, addGenerationPrompt) =>
    compiled(
      templateMessages(messages, { format, escape: tokenizer.escape, hasToken, style }),
      tools,
      addGenerationPrompt,
    );
}

function toTemplateTool(tool: ToolDefinition): Record<string, unknown> {
  return {
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  };
}

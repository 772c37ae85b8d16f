import type { Message, ToolDefinition } from "@mrlm/spec";
import type { CompiledTemplate } from "./compiled-template.ts";
import { TOOL_FORMATS } from "./formats/formats.ts";
import type { CallReader } from "./rendered-calls.ts";
import { templateMessages } from "./template-messages.ts";
import { type TemplateStyle, probeStyle } from "./template-style.ts";
import type { TextTokenizer } from "./tokenizer.ts";

/** Renders a conversation as text by the Jinja template of a model. */
export type ChatTemplate = (
  messages: readonly Message[],
  tools: readonly ToolDefinition[] | undefined,
  addGenerationPrompt: boolean,
) => string;

/** Returns a template for messages. Calls are rendered in the style that the template supports. */
export function chatTemplate(
  compiled: CompiledTemplate,
  reader: CallReader,
  tokenizer: Pick<TextTokenizer, "escape" | "idOf">,
): ChatTemplate {
  const hasToken = (marker: string): boolean => tokenizer.idOf(marker) !== undefined;
  let known: TemplateStyle | undefined;
  const style = (): TemplateStyle => (known ??= probeStyle(compiled, reader));
  return (messages, tools, addGenerationPrompt) =>
    compiled(
      templateMessages(messages, { format: TOOL_FORMATS[reader.format], escape: tokenizer.escape, hasToken, style }),
      tools,
      addGenerationPrompt,
    );
}

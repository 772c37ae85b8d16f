import type { ToolDefinition } from "@mrlm/spec";
import { type CompiledTemplate, mapStrings, type TemplateMessage, toTemplateTool } from "./compiled-template.ts";
import type { ToolFormat } from "./formats/format.ts";
import { spacedJson } from "./json-reader.ts";
import { attempt, PROBE_TOOL, systemProbe } from "./merged-messages.ts";

/** Returns true if a template renders the tools of a conversation. */
export function rendersTools(template: CompiledTemplate): boolean {
  const user = { role: "user", content: "a" };
  return [[user], [{ role: "system", content: "a" }, user]].some(
    (messages) => attempt(() => template(messages, [PROBE_TOOL], true))?.includes(PROBE_TOOL.name) === true,
  );
}

/**
 * Returns a template that has tools by the prompt, for one that renders none. Their definitions and the form of a call end the system message, or begin the first
 * message of the user if the template renders no system message. Results are a message of the user, each in `<tool_response>`. The texts are those of the template of
 * Hermes and Qwen 2.5.
 *
 * The template is for conversations with tools.
 */
export function promptedTools(
  template: CompiledTemplate,
  format: ToolFormat,
  options: { readonly escape: (content: string) => string; readonly hasToken: (marker: string) => boolean },
): CompiledTemplate {
  const hasSystem = systemProbe(template);
  return (messages, tools, addGenerationPrompt) => {
    const text = definitionsOf(tools ?? [], format, options);
    return template(withDefinitions(withResults(messages), text, hasSystem), undefined, addGenerationPrompt);
  };
}

function definitionsOf(
  tools: readonly ToolDefinition[],
  format: ToolFormat,
  { escape, hasToken }: Parameters<typeof promptedTools>[2],
): string {
  const definitions = tools.map((tool) => spacedJson(mapStrings(toTemplateTool(tool), escape) as never));
  const call = format.write([{ name: "NAME", arguments: { ARGUMENT: "VALUE" } }], 0, hasToken);
  return [
    "# Tools",
    "You may call one or more functions to assist with the user query.",
    `You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n${definitions.join("\n")}\n</tools>`,
    `Write a function call in this form${format.startsBlock === undefined ? "" : ", as the whole answer"}:\n${call}`,
  ].join("\n\n");
}

function withDefinitions(
  messages: readonly TemplateMessage[],
  text: string,
  hasSystem: () => boolean,
): TemplateMessage[] {
  const [first] = messages;
  if (first?.role === "system") return messages.with(0, { ...first, content: `${first.content}\n\n${text}` });
  if (hasSystem()) return [{ role: "system", content: text }, ...messages];
  const index = messages.findIndex(({ role }) => role === "user");
  const user = messages[index];
  if (user === undefined) return [{ role: "user", content: text }, ...messages];
  return messages.with(index, { ...user, content: `${text}\n\n${user.content}` });
}

/** Joins messages of tools that follow one another in one message of the user. */
function withResults(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const shown: TemplateMessage[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role !== "tool") {
      shown.push(message);
      continue;
    }
    const content = `<tool_response>\n${message.content ?? ""}\n</tool_response>`;
    const last = shown.at(-1);
    if (last === undefined || messages[i - 1]?.role !== "tool") shown.push({ role: "user", content });
    else shown[shown.length - 1] = { role: "user", content: `${last.content}\n${content}` };
  }
  return shown;
}

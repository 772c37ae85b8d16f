import { MrlmError } from "@mrlm/spec";
import type { ChatTemplate } from "./chat-template.ts";
import { TOOL_FORMAT_NAMES, type ToolFormatName } from "./formats/formats.ts";

/**
 * Returns a template that throws TOOLS_UNSUPPORTED if it does not render its tools: a template that ignores the variable `tools` renders without an
 * error, and the prompt of the policy would contain no tools. It throws the same if no parser reads the calls of the model.
 *
 * @param format form of the calls; `undefined` if no parser reads it
 */
export function checkTools(template: ChatTemplate, format: ToolFormatName | undefined): ChatTemplate {
  const shown = new Set<string>();
  return (messages, tools, addGenerationPrompt) => {
    const rendered = template(messages, tools, addGenerationPrompt);
    const names = (tools ?? []).map(({ name }) => name);
    const key = JSON.stringify(names);
    if (names.length > 0 && !shown.has(key)) {
      if (format === undefined) throw unreadable();
      assertShown(
        rendered,
        withoutTools(() => template(messages, undefined, addGenerationPrompt)),
        names,
      );
      shown.add(key);
    }
    return rendered;
  };
}

/** Checks that each name occurs more often than in the rendering without tools: the conversation may contain names of tools too. */
function assertShown(rendered: string, without: string, names: readonly string[]): void {
  const count = (text: string, name: string): number => text.split(name).length;
  const missing = names.filter((name) => count(rendered, name) <= count(without, name));
  if (missing.length === 0) return;
  throw new MrlmError(
    "TOOLS_UNSUPPORTED",
    `The model's chat template does not show the tools that are offered: ${missing.slice(0, 10).join(", ")}.`,
    {
      hint: "Set `model.tool_format`: the tools are then written into the system message, with the form of a call. `hermes` is a form for a model that was trained on none. Or use a model whose chat template renders `tools` (Qwen2.5 and Llama 3.1 do).",
    },
  );
}

/** Returns the rendering, or "" if the template refuses a conversation without tools. */
function withoutTools(render: () => string): string {
  try {
    return render();
  } catch (cause) {
    if (cause instanceof MrlmError) return "";
    throw cause;
  }
}

function unreadable(): MrlmError {
  return new MrlmError(
    "TOOLS_UNSUPPORTED",
    "Tools are offered, and the model's chat template writes calls of tools in a form that no parser reads.",
    { hint: `Set \`model.tool_format\` if the model writes one of these: ${TOOL_FORMAT_NAMES.join(", ")}.` },
  );
}

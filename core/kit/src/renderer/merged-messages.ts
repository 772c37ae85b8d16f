import { MrlmError, type ToolDefinition } from "@mrlm/spec";
import type { CompiledTemplate, TemplateMessage } from "./compiled-template.ts";

const PROBE = "probe_system";
/** Tool of the probes: some templates refuse a conversation without one. */
export const PROBE_TOOL: ToolDefinition = { name: "probe_tool", description: "", parameters: { type: "object" } };
const JOINT = "\n\n";

/**
 * Returns a template for conversations that the given one refuses or renders in part: messages of the user that follow one another are one message, with a blank
 * line between them, and so is a system message with the next message of the user, unless it is the first one and the template renders it. mistral-common and the
 * templates of Gemma 3 join messages in the same way. Answers are never joined, so that a longer conversation has the text of a shorter one.
 */
export function mergedMessages(template: CompiledTemplate): CompiledTemplate {
  const hasSystem = systemProbe(template);
  return (messages, tools, addGenerationPrompt) => {
    const merged: TemplateMessage[] = [];
    for (const message of messages) {
      const last = merged.at(-1);
      const isSystem = message.role === "system" && (last === undefined || last.role === "system") && hasSystem();
      const role = message.role === "system" && !isSystem ? "user" : message.role;
      if (last !== undefined && last.role === role && (role === "user" || role === "system"))
        merged[merged.length - 1] = { role, content: `${last.content ?? ""}${JOINT}${message.content ?? ""}` };
      else merged.push({ ...message, role });
    }
    return template(merged, tools, addGenerationPrompt);
  };
}

/**
 * Returns a template that throws TOKENIZER_INVALID for a system message that it would omit. The error names the option that joins messages wherever this renders
 * the conversation.
 */
export function wholeMessages(template: CompiledTemplate): CompiledTemplate {
  const merged = mergedMessages(template);
  const hasSystem = systemProbe(template);
  return (messages, tools, addGenerationPrompt) => {
    let rendered: string;
    try {
      rendered = template(messages, tools, addGenerationPrompt);
    } catch (cause) {
      if (attempt(() => merged(messages, tools, addGenerationPrompt)) === undefined) throw cause;
      throw refused((cause as Error).message, cause);
    }
    if (!messages.some(({ role }) => role === "system") || hasSystem()) return rendered;
    throw refused("The chat template omits the system message of the conversation.");
  };
}

/** Returns a function that reports whether a template renders a system message before one of the user. It asks the template once. */
export function systemProbe(template: CompiledTemplate): () => boolean {
  let known: boolean | undefined;
  const probe = [
    { role: "system", content: PROBE },
    { role: "user", content: "a" },
  ];
  const isShown = (tools: ToolDefinition[]): boolean =>
    attempt(() => template(probe, tools, true))?.includes(PROBE) === true;
  return () => (known ??= isShown([]) || isShown([PROBE_TOOL]));
}

/** Returns the rendering; `undefined` if the template refuses the conversation. */
export function attempt(render: () => string): string | undefined {
  try {
    return render();
  } catch {
    return undefined;
  }
}

function refused(message: string, cause?: unknown): MrlmError {
  return new MrlmError("TOKENIZER_INVALID", message, {
    hint: "Set `model.merge_messages: true`: it puts a system message into the next message of the user, and joins messages of the user that follow one another.",
    cause,
  });
}

import type { CompiledTemplate } from "./chat-template.ts";
import type { TemplateMessage } from "./template-messages.ts";

/** Style in which a chat template renders calls. */
export interface TemplateStyle {
  /** Form of the arguments: an object, or JSON as a string. Templates that concatenate them with strings need the latter. */
  readonly arguments: "object" | "json";
  /** Greatest number of calls of one message. 0 if the template renders none, 1 for Llama 3.1. */
  readonly maxCalls: number;
}

const NAMES = ["probe_first", "probe_second"];
const ARGUMENTS = { probe_key: "probe_value" };
/** Arguments without spaces are not what `tojson` writes, so that a template that writes the string itself is recognised. */
const JSON_ARGUMENTS = JSON.stringify(ARGUMENTS);

/** Returns the style of a template by rendering calls. */
export function probeStyle(template: CompiledTemplate): TemplateStyle {
  const shows = (calls: number, form: "object" | "json"): boolean => {
    try {
      const rendered = template(conversation(calls, form), [{ name: "probe", description: "", parameters: {} }], false);
      const expected = form === "json" ? [JSON_ARGUMENTS] : Object.entries(ARGUMENTS).flat();
      return [...NAMES.slice(0, calls), ...expected].every((text) => rendered.includes(text));
    } catch {
      return false;
    }
  };
  const form = shows(1, "object") ? "object" : "json";
  if (!shows(1, form)) return { arguments: form, maxCalls: 0 };
  return { arguments: form, maxCalls: shows(2, form) ? Infinity : 1 };
}

function conversation(calls: number, form: "object" | "json"): TemplateMessage[] {
  const ids = NAMES.slice(0, calls).map((_, i) => `probe000${i}`);
  return [
    { role: "user", content: "a" },
    {
      role: "assistant",
      content: "",
      tool_calls: ids.map((id, i) => ({
        id,
        type: "function",
        function: { name: NAMES[i] as string, arguments: form === "json" ? JSON_ARGUMENTS : ARGUMENTS },
      })),
    },
    ...ids.map((id, i) => ({ role: "tool", content: "b", tool_call_id: id, name: NAMES[i] as string })),
  ];
}

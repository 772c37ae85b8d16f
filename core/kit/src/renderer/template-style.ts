import type { CompiledTemplate, TemplateMessage } from "./compiled-template.ts";

/** Style in which a chat template renders calls. */
export interface TemplateStyle {
  /** Form of the arguments: an object, or JSON as a string. Templates that concatenate them with strings need the latter. */
  readonly arguments: "object" | "json";
  /** Content of messages that have calls and no text. Templates of DeepSeek render an empty text as a message of its own. */
  readonly noContent: "" | null;
  /** Greatest number of calls of one message. 0 if the template renders none, 1 for Llama 3.1. */
  readonly maxCalls: number;
  /** The same for messages with text, beside which some templates omit calls. */
  readonly maxCallsBesideText: number;
}

/** Templates for tools need one. */
const PROBE_TOOL = { name: "probe", description: "", parameters: { type: "object", properties: {} } };
const NAMES = ["probe_first", "probe_second"];
const ARGUMENTS = { probe_key: "probe_value" };
/** Arguments without spaces are not what `tojson` writes, so that a template that writes the string itself is recognised. */
const JSON_ARGUMENTS = JSON.stringify(ARGUMENTS);

/** Returns the style of a template by rendering calls. */
export function probeStyle(template: CompiledTemplate): TemplateStyle {
  /** Returns the rendered conversation if it has all calls. */
  const render = (calls: number, form: "object" | "json", content: string | null): string | undefined => {
    try {
      const rendered = template(conversation(calls, form, content), [PROBE_TOOL], false);
      const expected = form === "json" ? [JSON_ARGUMENTS] : Object.entries(ARGUMENTS).flat();
      return [...NAMES.slice(0, calls), ...expected].every((text) => rendered.includes(text)) ? rendered : undefined;
    } catch {
      return undefined;
    }
  };
  const shows = (...conditions: Parameters<typeof render>): boolean => render(...conditions) !== undefined;
  const form = shows(1, "object", "") ? "object" : "json";
  const lengthOf = (content: "" | null): number => render(1, form, content)?.length ?? Infinity;
  const noContent = lengthOf(null) < lengthOf("") ? null : "";
  const maxCalls = (content: string): number => {
    if (!shows(1, form, content)) return 0;
    return shows(2, form, content) ? Infinity : 1;
  };
  return { arguments: form, noContent, maxCalls: maxCalls(""), maxCallsBesideText: maxCalls("c") };
}

function conversation(calls: number, form: "object" | "json", content: string | null): TemplateMessage[] {
  const ids = NAMES.slice(0, calls).map((_, i) => `probe000${i}`);
  return [
    { role: "user", content: "a" },
    {
      role: "assistant",
      content,
      tool_calls: ids.map((id, i) => ({
        id,
        type: "function",
        function: { name: NAMES[i] as string, arguments: form === "json" ? JSON_ARGUMENTS : ARGUMENTS },
      })),
    },
    ...ids.map((id, i) => ({ role: "tool", content: "b", tool_call_id: id, name: NAMES[i] as string })),
  ];
}

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@mrlm/spec";
import type { CompiledTemplate, TemplateMessage } from "./compiled-template.ts";
import { TOOL_FORMATS } from "./formats/formats.ts";
import { attempt } from "./merged-messages.ts";
import { type CallReader, renderedCalls } from "./rendered-calls.ts";

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
  /** Role of a message of a tool that is no result of a call. Templates of Mistral refuse such messages, except as messages of the user. */
  readonly toolTextRole: "tool" | "user";
}

/** Values of each type: some templates render all of them as strings. */
const ARGUMENTS: JsonObject = { probe_key: "probe_value", probe_number: 1, probe_flag: true, probe_list: [1, "a"] };
const TYPES = { probe_key: "string", probe_number: "integer", probe_flag: "boolean", probe_list: "array" };
const NAMES = ["probe_first", "probe_second"];
const TOOLS = NAMES.map((name) => ({
  name,
  description: "",
  parameters: {
    type: "object",
    properties: Object.fromEntries(Object.entries(TYPES).map(([key, type]) => [key, { type }])),
  },
}));
/** Arguments without spaces are not what `tojson` writes, so that a template that writes the string itself is recognised. */
const JSON_ARGUMENTS = JSON.stringify(ARGUMENTS);

/**
 * Returns the style of a template by rendering calls. A template renders a call if the parser reads the same call: in another form, a demonstration has
 * calls that do not run.
 */
export function probeStyle(template: CompiledTemplate, reader: CallReader): TemplateStyle {
  const prompt = attempt(() => template([ASK], TOOLS, true));
  const shown = TOOL_FORMATS[reader.format].templateArguments?.(ARGUMENTS) ?? ARGUMENTS;
  /** Returns the rendered conversation if it has all calls. */
  const render = (calls: number, form: "object" | "json", content: string | null): string | undefined => {
    const given = form === "json" ? JSON_ARGUMENTS : shown;
    const rendered = attempt(() => template(conversation(calls, given, content), TOOLS, false));
    if (rendered === undefined) return undefined;
    const names = NAMES.slice(0, calls);
    if (prompt === undefined || !rendered.startsWith(prompt))
      return [...names, ...Object.keys(ARGUMENTS)].every((text) => rendered.includes(text)) ? rendered : undefined;
    const read = renderedCalls(rendered.slice(prompt.length), prompt, TOOLS, reader);
    return isDeepStrictEqual(
      read,
      names.map((name) => ({ name, arguments: ARGUMENTS })),
    )
      ? rendered
      : undefined;
  };
  const shows = (...conditions: Parameters<typeof render>): boolean => render(...conditions) !== undefined;
  const form = shows(1, "object", "") ? "object" : "json";
  const lengthOf = (content: "" | null): number => render(1, form, content)?.length ?? Infinity;
  const noContent = lengthOf(null) < lengthOf("") ? null : "";
  const maxCalls = (content: string): number => {
    if (!shows(1, form, content)) return 0;
    return shows(2, form, content) ? Infinity : 1;
  };
  return {
    arguments: form,
    noContent,
    maxCalls: maxCalls(""),
    maxCallsBesideText: maxCalls("c"),
    toolTextRole: attempt(() => template(TOOL_TEXT, TOOLS, true))?.includes(PROBE_TEXT) === true ? "tool" : "user",
  };
}

const ASK = { role: "user", content: "a" };
const PROBE_TEXT = "probe_text";
const TOOL_TEXT = ["user", "assistant", "tool", "assistant", "user"].map((role) => ({
  role,
  content: role === "tool" ? PROBE_TEXT : "a",
}));

function conversation(calls: number, given: JsonObject | string, content: string | null): TemplateMessage[] {
  const ids = NAMES.slice(0, calls).map((_, i) => `probe000${i}`);
  return [
    ASK,
    {
      role: "assistant",
      content,
      tool_calls: ids.map((id, i) => ({
        id,
        type: "function",
        function: { name: NAMES[i] as string, arguments: given },
      })),
    },
    ...ids.map((id, i) => ({ role: "tool", content: "b", tool_call_id: id, name: NAMES[i] as string })),
  ];
}

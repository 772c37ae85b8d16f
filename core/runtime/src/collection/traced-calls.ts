import { isDeepStrictEqual } from "node:util";
import type { RecordedRow } from "@mrlm/kit/learning";
import { isObject, type JsonObject, type JsonValue, parseJson } from "@mrlm/spec";
import type { TracedSpan } from "./otlp-spans.ts";

export type TracedMessage = RecordedRow["messages"][number];
type Tools = NonNullable<RecordedRow["tools"]>;

/** Call of a model in production, from a span of the operation `chat`. */
export interface TracedCall {
  readonly id: string;
  /** Value of `gen_ai.conversation.id`, else the trace. */
  readonly conversation: string;
  readonly model: string;
  /** Messages that the model read, and its answer. */
  readonly messages: readonly TracedMessage[];
  readonly tools: Tools | null;
  /** Whether the answer was cut at the limit of tokens. */
  readonly isCut: boolean;
}

/** Reason why nothing is learnt from a call. */
export type CallFault = "failed" | "without content" | "with pictures or files";

/**
 * Reads a call in the form of OpenTelemetry's semantic conventions for generative AI (attributes `gen_ai.input.messages`, `gen_ai.output.messages`,
 * `gen_ai.system_instructions`, `gen_ai.tool.definitions`; https://opentelemetry.io/docs/specs/semconv/gen-ai/). `undefined` for a span of another operation.
 */
export function tracedCall(span: TracedSpan): TracedCall | CallFault | undefined {
  const { attributes, id, isError } = span;
  if (attributes["gen_ai.operation.name"] !== "chat") return undefined;
  if (isError) return "failed";
  const [input, output] = [valueOf(attributes, "gen_ai.input.messages"), valueOf(attributes, "gen_ai.output.messages")];
  if (!Array.isArray(input) || !Array.isArray(output) || output.length !== 1) return "without content";
  const instructions = valueOf(attributes, "gen_ai.system_instructions");
  const system = Array.isArray(instructions) ? [{ role: "system", parts: instructions }] : [];
  const isRepeated = isDeepStrictEqual(
    system[0],
    isObject(input[0]) ? { role: input[0]["role"], parts: input[0]["parts"] } : undefined,
  );
  const answer = isObject(output[0]) ? output[0] : {};
  const names = new Map<string, string>();
  const given = [...(isRepeated ? [] : system), ...input, answer];
  const messages: TracedMessage[] = [];
  for (const message of given) {
    const read = isObject(message) ? messagesOf(message, names) : "without content";
    if (typeof read === "string") return read;
    messages.push(...read);
  }
  const last = messages.at(-1);
  if (last?.role !== "assistant" || (!last.content && last.tool_calls === undefined)) return "without content";
  const model = attributes["gen_ai.response.model"] ?? attributes["gen_ai.request.model"];
  return {
    ...{ id, messages, model: typeof model === "string" ? model : "" },
    conversation: String(attributes["gen_ai.conversation.id"] ?? id.slice(0, id.indexOf("/"))),
    tools: toolsOf(valueOf(attributes, "gen_ai.tool.definitions")),
    isCut: answer["finish_reason"] === "length",
  };
}

/** Structured attributes are JSON texts where the exporter knows no others. */
function valueOf(attributes: JsonObject, name: string): JsonValue | undefined {
  const value = attributes[name];
  if (typeof value !== "string") return value;
  try {
    return parseJson(value) as JsonValue;
  } catch {
    return undefined;
  }
}

/** @param names receives the names of the tools by the ids of calls */
function messagesOf(message: JsonObject, names: Map<string, string>): TracedMessage[] | CallFault {
  const { role, parts } = message;
  if (!isRole(role) || !Array.isArray(parts)) return "without content";
  const [texts, thoughts]: [string[], string[]] = [[], []];
  const calls: NonNullable<TracedMessage["tool_calls"]> = [];
  const results: TracedMessage[] = [];
  for (const part of parts) {
    if (!isObject(part)) return "without content";
    const { type, content, id, name } = part;
    if (type === "text") texts.push(textOf(content));
    else if (type === "reasoning") thoughts.push(textOf(content));
    else if (type === "tool_call") {
      names.set(String(id), String(name));
      calls.push({ id: String(id), function: { name: String(name), arguments: argumentsOf(part["arguments"]) } });
    } else if (type === "tool_call_response") {
      const tool = names.get(String(id));
      const shown = textOf(part["response"] ?? part["result"]);
      results.push({
        role: "tool",
        content: shown,
        tool_call_id: String(id),
        ...(tool !== undefined && { name: tool }),
      });
    } else return "with pictures or files";
  }
  if (role === "tool" && (results.length === 0 || texts.length > 0)) return "without content";
  if (role === "tool") return results;
  // The answer of an agent repeats results, which the next call reads. In messages of a user they come before its text.
  const before = role === "assistant" ? [] : results;
  if (before.length > 0 && texts.length === 0) return before;
  return [
    ...before,
    {
      ...{ role, content: texts.join("") },
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function isRole(value: unknown): value is TracedMessage["role"] {
  return ["system", "user", "assistant", "tool"].includes(value as string);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function argumentsOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}

function toolsOf(value: JsonValue | undefined): Tools | null {
  if (!Array.isArray(value)) return null;
  const tools = value.filter(isObject).map(({ name, description, parameters, inputSchema }) => ({
    type: "function",
    function: {
      ...{ name: String(name), description: textOf(description) },
      parameters: JSON.stringify(parameters ?? inputSchema ?? {}),
    },
  }));
  return tools.length === 0 ? null : tools;
}

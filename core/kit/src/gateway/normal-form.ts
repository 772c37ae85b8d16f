import {
  isObject,
  type JsonValue,
  type Message,
  type Part,
  type ToolDefinition,
  type ToolResultPart,
} from "@mrlm/spec";
import { toolCalls } from "../messages.ts";

/** Message with the form by which histories are compared. */
export interface NormalMessage {
  /** Consecutive messages of the assistant as one, and consecutive results as one in the order of their calls. */
  readonly message: Message;
  /** Everything that is compared but the reasoning. Ids of calls are left out: SDKs replace them. */
  readonly key: string;
  readonly reasoning: string;
  /** Ids of the calls, by position. */
  readonly callIds: readonly string[];
}

/** Joins the messages of a history as programs divide them, and gives each its key. */
export function normalForm(messages: readonly Message[]): NormalMessage[] {
  const joined: Message[] = [];
  let added: Part[] = [];
  for (const message of messages) {
    const isJoined = joined.at(-1)?.role === message.role && (message.role === "assistant" || message.role === "tool");
    // A copy for each message would take the square of a history that the program chooses.
    if (isJoined) for (const part of message.parts) added.push(part);
    else joined.push({ ...message, parts: (added = [...message.parts]) });
  }
  return joined.map((message, i) => normalMessage(message.role === "tool" ? sorted(message, joined[i - 1]) : message));
}

/** Returns a message with its key. */
export function normalMessage(message: Message): NormalMessage {
  const { role, name, parts } = message;
  const calls = toolCalls(message);
  const results = parts.filter((part) => part.type === "tool-result");
  const key = [
    role,
    role === "tool" ? "" : (name ?? ""),
    textOf(parts, "text", "malformed-call"),
    calls.map((call) => [call.name, canonicalJson(call.arguments)]),
    results.map(({ content }) => textOf(content, "text")),
  ];
  return {
    message,
    key: JSON.stringify(key),
    reasoning: textOf(parts, "thinking"),
    callIds: calls.map(({ id }) => id),
  };
}

/** Returns a message whose calls and results have other ids. */
export function withIds({ message, ...normal }: NormalMessage, ids: ReadonlyMap<string, string>): NormalMessage {
  const parts = message.parts.map((part): Part =>
    part.type === "tool-call" || part.type === "tool-result" ? { ...part, id: ids.get(part.id) ?? part.id } : part,
  );
  return { ...normal, message: { ...message, parts }, callIds: normal.callIds.map((id) => ids.get(id) ?? id) };
}

/** Returns the form by which lists of tools are compared. */
export function toolsKey(tools: readonly ToolDefinition[]): string {
  return JSON.stringify(
    tools.map(({ name, description, parameters }) => [name, description, canonicalJson(parameters)]),
  );
}

/** Returns JSON text in which the order of keys in the source makes no difference. */
function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member) && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Returns a message of results in the order of their calls. */
function sorted(message: Message, caller: Message | undefined): Message {
  const order = new Map((caller === undefined ? [] : toolCalls(caller)).map(({ id }, i) => [id, i]));
  const place = (part: Part): number => order.get((part as ToolResultPart).id) ?? order.size;
  return { ...message, parts: message.parts.toSorted((a, b) => place(a) - place(b)) };
}

function textOf(parts: readonly Part[], ...types: readonly Part["type"][]): string {
  const text = parts.map((part) => ("text" in part && types.includes(part.type) ? part.text : "")).join("");
  return text.replaceAll("\r\n", "\n").trim();
}

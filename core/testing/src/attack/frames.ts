import { isObject, type JsonObject, type JsonValue, type Message } from "@mrlm/spec";
import { callMessage, messageText, textMessage, toolCalls } from "@mrlm/kit";
import { leavesOf } from "./spans.ts";

/** Form of a message that gold writes, with slots for what differs between tasks. */
export interface Frame {
  readonly words: string;
  readonly slots: number;
  /** Texts of the slots in the first message that gold wrote. */
  readonly typical: readonly string[];
  fill(texts: readonly string[]): Message;
  /** Reads the slots of a message of this form. */
  read(message: Message): readonly string[] | undefined;
}

const MOST_SLOTS = 6;
/** Most tokens of a text that is compared with others. */
const MOST_TOKENS = 400;

/** The text itself, without a form. */
export const BARE: Frame = textFrame("as it is", ["", ""], (text) => [text]);

/** Returns the forms of messages that gold wrote in several tasks, the narrowest first. */
export function framesOf(messages: readonly Message[]): Frame[] {
  const withCalls = Object.groupBy(messages, (message) =>
    toolCalls(message)
      .map(({ name }) => name)
      .join(" "),
  );
  return Object.entries(withCalls).flatMap(([names, own = []]) => {
    if (names !== "") return [callFrame(own)];
    return textFrames([...new Set(own.map(messageText))].filter((text) => text.trim() !== ""));
  });
}

function textFrames(texts: readonly string[]): Frame[] {
  const [first = ""] = texts;
  if (texts.length === 0) return [];
  const json = jsonFrame(texts);
  if (json !== undefined) return [json];
  const inner = [tagFrame(texts), boxFrame(texts), fenceFrame(texts), lastLineFrame(texts)];
  const found = [...inner, ...(texts.length === 1 ? [] : [edgeFrame(texts)])].filter((frame) => frame !== undefined);
  // A form is one only if it shows: the same text in all tasks has no slot.
  return texts.length === 1 && found.length === 0 ? [] : found.filter((frame) => frame.typical.join("") !== first);
}

/** Makes a frame of a text from what stands around its slots. */
function textFrame(
  words: string,
  around: readonly string[],
  read: (text: string) => readonly string[] | undefined,
  typical: readonly string[] = [],
): Frame {
  return {
    words,
    slots: around.length - 1,
    typical,
    fill: (texts) =>
      textMessage(
        "assistant",
        around.map((part, i) => part + (i < around.length - 1 ? (texts[i] ?? texts.at(-1) ?? "") : "")).join(""),
      ),
    read: (message) => (toolCalls(message).length > 0 ? undefined : read(messageText(message))),
  };
}

/** Makes a frame with one slot from a pattern whose first group is the slot, if all texts have it. */
function slotFrame(
  words: string,
  texts: readonly string[],
  pattern: RegExp,
  around: readonly [string, string],
): Frame | undefined {
  const read = (text: string): readonly string[] | undefined => {
    const slot = pattern.exec(text)?.[1];
    return slot === undefined ? undefined : [slot];
  };
  const slots = texts.map(read);
  return slots.every((slot) => slot !== undefined) ? textFrame(words, around, read, slots[0]) : undefined;
}

function tagFrame(texts: readonly string[]): Frame | undefined {
  const tags = (text: string): string[] =>
    Array.from(text.matchAll(/<([A-Za-z][\w-]*)>[^]*?<\/\1>/g), ([, tag = ""]) => tag);
  const tag = tags(texts[0] ?? "").findLast((name) => texts.every((text) => tags(text).includes(name)));
  if (tag === undefined) return undefined;
  const pattern = new RegExp(`<${tag}>(?![^]*<${tag}>)([^]*?)</${tag}>`);
  return slotFrame(`in <${tag}>`, texts, pattern, [`<${tag}>`, `</${tag}>`]);
}

function boxFrame(texts: readonly string[]): Frame | undefined {
  return slotFrame(String.raw`in \boxed{}`, texts, /\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}/, [String.raw`\boxed{`, "}"]);
}

function fenceFrame(texts: readonly string[]): Frame | undefined {
  const language = /```(\w*)\n/.exec(texts[0] ?? "")?.[1];
  if (language === undefined) return undefined;
  return slotFrame("in a code block", texts, /```\w*\n([^]*?)\n?```/, [`\`\`\`${language}\n`, "\n```"]);
}

function lastLineFrame(texts: readonly string[]): Frame | undefined {
  const before = /(?:^|\n)([^\n:=]{1,60}[:=]\s*)[^\n]+\s*$/.exec(texts[0] ?? "")?.[1];
  if (before === undefined) return undefined;
  const pattern = new RegExp(`(?:^|\\n)${before.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}([^\\n]*?)\\s*$`);
  return slotFrame(`after ${JSON.stringify(before)}`, texts, pattern, [before, ""]);
}

/** Splits into words, numbers, blanks and single other characters. */
function tokensOf(text: string): string[] {
  return (text.match(/\s+|\d+(?:\.\d+)?|[\p{L}_]+|[^]/gu) ?? []).slice(0, MOST_TOKENS);
}

/** Frame from the common beginning and end. */
function edgeFrame(texts: readonly string[]): Frame | undefined {
  const all = texts.map(tokensOf);
  const shortest = Math.min(...all.map((tokens) => tokens.length));
  const [first = []] = all;
  let [start, end] = [0, 0];
  while (start < shortest && all.every((tokens) => tokens[start] === first[start])) start++;
  while (end < shortest - start && all.every((tokens) => tokens.at(-1 - end) === first.at(-1 - end))) end++;
  const [before, after] = [first.slice(0, start).join(""), end === 0 ? "" : first.slice(-end).join("")];
  if (before.trim() === "" && after.trim() === "") return undefined;
  const read = (text: string): readonly string[] | undefined =>
    text.startsWith(before) && text.endsWith(after) && text.length >= before.length + after.length
      ? [text.slice(before.length, text.length - after.length)]
      : undefined;
  return textFrame(
    `between ${JSON.stringify(before)} and ${JSON.stringify(after)}`,
    [before, after],
    read,
    read(texts[0] ?? ""),
  );
}

/** Frame of JSON objects with the same keys: each leaf that differs is a slot, or each if there is one object. */
function jsonFrame(texts: readonly string[]): Frame | undefined {
  const values = texts.map((text) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return undefined;
    }
  });
  return values.every((value) => isObject(value))
    ? objectFrame(values as JsonObject[], "in JSON", {
        write: (value) => textMessage("assistant", JSON.stringify(value)),
        read: (message) => {
          try {
            return JSON.parse(messageText(message)) as JsonValue;
          } catch {
            return undefined;
          }
        },
      })
    : undefined;
}

/** Frame of calls of the same tools. */
function callFrame(messages: readonly Message[]): Frame {
  const calls = messages.map(toolCalls);
  const names = (calls[0] ?? []).map(({ name }) => name);
  const text = messageText(messages[0] as Message);
  return objectFrame(
    calls.map((each) => each.map((call) => call.arguments) as JsonValue as JsonObject),
    `in a call of ${names.join(", ")}`,
    {
      write: (value) => ({
        role: "assistant",
        parts: [
          ...(text === "" ? [] : [{ type: "text" as const, text }]),
          ...names.flatMap((name, i) => callMessage(name, (value as JsonValue as JsonObject[])[i] ?? {}).parts),
        ],
      }),
      read: (message) => {
        const own = toolCalls(message);
        return own.map(({ name }) => name).join() === names.join()
          ? (own.map((call) => call.arguments) as JsonValue)
          : undefined;
      },
    },
  );
}

function objectFrame(
  values: readonly JsonObject[],
  words: string,
  {
    write,
    read,
  }: {
    readonly write: (value: JsonObject) => Message;
    readonly read: (message: Message) => JsonValue | undefined;
  },
): Frame {
  const all = values.map((value) => leavesOf(value));
  const first = all[0] ?? [];
  const differs = (path: string): boolean =>
    new Set(all.map((leaves) => JSON.stringify(leaves.find((leaf) => leaf.path.join(".") === path)?.value))).size > 1;
  const varying = first.filter(({ path }) => values.length === 1 || differs(path.join(".")));
  const slots = varying.slice(0, MOST_SLOTS);
  const typical = slots.map(({ value }) => textOf(value));
  return {
    words: slots.length < 2 ? words : `${words} (${slots.map(({ path }) => path.at(-1)).join(", ")})`,
    slots: slots.length,
    typical,
    fill: (texts) => {
      const value = structuredClone(values[0] ?? {});
      for (const [i, { path, value: before }] of slots.entries())
        setLeaf(value, path, valueOf(texts[i] ?? texts.at(-1) ?? "", before));
      return write(value);
    },
    read: (message) => {
      const leaves = leavesOf(read(message));
      const found = slots.map(({ path }) => leaves.find((leaf) => leaf.path.join(".") === path.join(".")));
      return found.every((leaf) => leaf !== undefined) ? found.map(({ value }) => textOf(value)) : undefined;
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a text as a value of the type that stood in its place. */
function valueOf(text: string, before: unknown): JsonValue {
  if (typeof before === "string") return text;
  if (typeof before === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (["true", "false", "null", "[]", "{}"].includes(text)) return JSON.parse(text) as JsonValue;
  return text;
}

function setLeaf(value: JsonObject, path: readonly string[], leaf: JsonValue): void {
  let inner: Record<string, unknown> = value;
  for (const key of path.slice(0, -1)) inner = inner[key] as Record<string, unknown>;
  inner[path.at(-1) ?? ""] = leaf;
}

import { isDeepStrictEqual } from "node:util";
import { type Message, MrlmError, type Part, type ToolDefinition } from "@mrlm/spec";
import { type ConversationWindow, type OmittedForms, windowOf } from "./conversation-window.ts";
import type { NextTurn } from "./next-turn.ts";
import { Template } from "./packages.ts";

/** Greatest integer in a template for which conversations of more messages are probed: it may be a number of messages. */
const MAX_INTEGER = 16;

const KINDS = ["text", "one", "two"] as const;
type Kind = (typeof KINDS)[number];

const NAMES = ["probe_first", "probe_second"] as const;
const TOOLS: readonly ToolDefinition[] = NAMES.map((name) => ({
  name,
  description: "",
  parameters: { type: "object", properties: { key: { type: "string" } } },
}));

type TurnOf = (
  history: readonly Message[],
  messages: readonly Message[],
  tools: readonly ToolDefinition[] | undefined,
) => NextTurn | undefined;

/**
 * Returns a function that decides whether a template gives the same next turn for a window as for the whole history. It probes the template once for the forms
 * that a window omits: conversations of these forms with all ends, and with each string of the template in their texts. A history with a string to which the
 * template responds is rendered whole.
 *
 * @param sources Jinja of the templates without and with tools
 */
export function windowProbe(
  turnOf: TurnOf,
  sources: readonly string[],
): (window: ConversationWindow, hasTools: boolean) => boolean {
  const { strings, greatest } = literalsOf(sources);
  /** Strings to which the template responds, by forms; `undefined` if a window is never the same. */
  const known = new Map<string, readonly string[] | undefined>();
  const agrees = (history: readonly Message[], messages: readonly Message[], hasTools: boolean): boolean => {
    const [whole, part] = [history, windowOf(history)?.messages ?? []].map((given) => {
      try {
        return turnOf(given, messages, hasTools ? TOOLS : undefined);
      } catch (cause) {
        if (cause instanceof MrlmError) return cause.message;
        throw cause;
      }
    });
    return isDeepStrictEqual(whole, part);
  };
  const isSame = (forms: OmittedForms, hasTools: boolean, text?: string): boolean =>
    conversations(forms, 6 + greatest, text).every(({ history, follow }) =>
      follow.every((messages) => agrees(history, messages, hasTools)),
    );
  return ({ forms, texts }, hasTools) => {
    if (greatest > MAX_INTEGER) return false;
    const key = JSON.stringify([forms, hasTools]);
    if (!known.has(key))
      known.set(key, isSame(forms, hasTools) ? strings.filter((text) => !isSame(forms, hasTools, text)) : undefined);
    const responding = known.get(key);
    if (responding === undefined || responding.length === 0) return responding !== undefined;
    const written = texts().map((text) => text.toLowerCase());
    return !responding.some((text) => written.some((each) => each.includes(text.toLowerCase())));
  };
}

interface Conversation {
  readonly history: readonly Message[];
  /** Alternatives for the messages that follow. */
  readonly follow: readonly (readonly Message[])[];
}

/**
 * Returns conversations that have a window, whose beginning has the given forms and whose ends have any. With a text, the text stands in all messages of the
 * beginning.
 *
 * @param count least number of turns of the beginning
 */
function conversations(forms: OmittedForms, count: number, text?: string): Conversation[] {
  const beginnings: readonly (readonly Kind[])[] = forms.calls ? [KINDS, ["one"], ["two"]] : [["text"]];
  const ends = KINDS.flatMap((kind) => [false, true].map((thinks) => ({ kind, thinks })));
  const made: Conversation[] = [];
  for (const [b, beginning] of (text === undefined ? beginnings : beginnings.slice(0, 1)).entries())
    for (const every of forms.thinking ? [1, 2] : [0])
      for (const [e, end] of ends.entries()) {
        if (text !== undefined && (end.kind === "two" || end.thinks !== forms.thinking)) continue;
        const last = ends[(e + b + every) % ends.length] as (typeof ends)[number];
        const [answer, ...results] = turn(last.kind, 999, last.thinks, "l");
        const user = message("user", "u");
        // The text is in no message that a window keeps, so the last turns are without it.
        const historyOf = (length: number): Message[] => [
          ...(e % 2 === 0 ? [message("system", "s")] : []),
          user,
          ...Array.from({ length: length + 3 }, (_, i) =>
            i < length
              ? turn(
                  beginning[i % beginning.length] as Kind,
                  i,
                  every > 0 && i % every === 0,
                  i < count ? variant(text, i) : `t${i}`,
                )
              : turn(end.kind, i, end.thinks, "e"),
          ).flat(),
          answer as Message,
        ];
        // A window omits an even number of messages.
        const history = [0, 1, 2, 3]
          .map((more) => historyOf(count + more))
          .find((each) => windowOf(each) !== undefined);
        if (history === undefined) continue;
        made.push({
          history,
          follow:
            last.kind === "text" ? [[user], [message("system", "s")], [user, user]] : [results, [...results, user]],
        });
      }
  return made;
}

function variant(text: string | undefined, i: number): string {
  if (text === undefined) return `t${i}`;
  return [text, `${text}b`, `b${text}`][Math.floor(i / KINDS.length) % 3] as string;
}

/** Returns a message of the policy and what follows it. */
function turn(kind: Kind, i: number, thinks: boolean, content: string): Message[] {
  const thinking: Part[] = thinks ? [{ type: "thinking", text: content }] : [];
  const text: Part = { type: "text", text: content };
  if (kind === "text") return [{ role: "assistant", parts: [...thinking, text] }, message("user", content)];
  const ids = NAMES.slice(0, kind === "one" ? 1 : 2).map((name, n) => ({
    id: `probe${String(i).padStart(3, "0")}${n}`,
    name,
  }));
  const calls = ids.map((call): Part => ({ type: "tool-call", ...call, arguments: { key: content } }));
  const results = ids.map((call): Part => ({ type: "tool-result", ...call, content: [text as never], isError: false }));
  return [
    { role: "assistant", parts: [...thinking, ...(kind === "two" ? [text] : []), ...calls] },
    { role: "tool", parts: results },
  ];
}

function message(role: "system" | "user", text: string): Message {
  return { role, parts: [{ type: "text", text }] };
}

/** Returns the strings of templates, without those of white space or one character, and their greatest integer. */
function literalsOf(sources: readonly string[]): { readonly strings: readonly string[]; readonly greatest: number } {
  const strings = new Set<string>();
  let greatest = 0;
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, value } = node as { type?: unknown; value?: unknown };
    if (type === "StringLiteral" && typeof value === "string" && value.trim().length > 1) strings.add(value.trim());
    if (type === "IntegerLiteral" && typeof value === "number") greatest = Math.max(greatest, Math.abs(value));
    for (const member of node instanceof Map ? [...node.entries()].flat() : Object.values(node)) visit(member);
  };
  for (const source of sources) visit(new Template(source).parsed);
  return { strings: [...strings], greatest };
}

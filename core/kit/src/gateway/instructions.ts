import { createContext, Script } from "node:vm";
import { isObject, type JsonObject, type Message, parseJson, type Part } from "@mrlm/spec";
import { fromJSONSchema } from "zod";
import type { ModelCall } from "./codec.ts";

/** Form that a call requires of its answer. */
type RequiredForm = Pick<ModelCall, "requiredTool" | "format">;

/** Member of a response whose answer does not have the form that its call requires: no answer is constrained. */
export const SCHEMA_FAILED = { schema_failed: true } as const;

/**
 * Returns new messages of which the last one ends with what a call requires of its answer. The addition is no part of the history that is compared, so that the next call continues the
 * conversation: in an episode additions of earlier calls stay in the context, while a server, which keeps no conversations, has that of the last call alone.
 */
export function withInstructions(messages: readonly Message[], form: RequiredForm): readonly Message[] {
  const text = instructionsOf(form);
  const last = messages.at(-1);
  if (text === "" || last === undefined) return messages;
  if (last.role === "assistant") return [...messages, { role: "user", parts: [{ type: "text", text }] }];
  return [...messages.slice(0, -1), { ...last, parts: extended(last.parts, `\n\n${text}`) }];
}

/** Longest check of an answer, in milliseconds: references make one of a kilobyte take years, and other episodes wait meanwhile. */
const CHECK_MS = 100;
/** Calls the function `check`, which a limit of time can end. */
const script = new Script("check()");
const globals: { check?: () => boolean } = {};
let timed: ReturnType<typeof createContext> | undefined;

/**
 * Whether the text of an answer has the form that a call requires. A schema that cannot be read, or whose check takes more than 100 ms, accepts any JSON, and `pattern` is not
 * checked.
 */
export function hasFormat(text: string, { format }: RequiredForm): boolean {
  if (format === undefined) return true;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return false;
  }
  const { schema } = format;
  if (schema === undefined) return isObject(value);
  globals.check = () => fromJSONSchema(checked(schema)).safeParse(value).success;
  try {
    return script.runInContext((timed ??= createContext(globals)), { timeout: CHECK_MS }) as boolean;
  } catch {
    return true;
  }
}

/** Returns a schema without regular expressions: some take years on a text, and both are a client's. */
function checked(schema: JsonObject): JsonObject {
  const isExpression = (key: string, value: unknown): boolean =>
    key === "patternProperties" || (key === "pattern" && typeof value === "string");
  const text = JSON.stringify(schema, (key, value: unknown) => (isExpression(key, value) ? undefined : value));
  return parseJson(text) as JsonObject;
}

function instructionsOf({ requiredTool, format }: RequiredForm): string {
  const lines: string[] = [];
  if (requiredTool !== undefined)
    lines.push(requiredTool === "" ? "Call one of the tools." : `Call the tool ${requiredTool}.`);
  if (format?.schema !== undefined)
    lines.push(`Answer with one JSON value of this schema: ${JSON.stringify(format.schema)}`);
  else if (format !== undefined) lines.push("Answer with one JSON object.");
  return lines.join("\n");
}

/** Adds text to a message of the user, or to the last result of a message of results. */
function extended(parts: readonly Part[], text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type === "tool-result")
    return [...parts.slice(0, -1), { ...last, content: [...last.content, { type: "text", text }] }];
  if (last?.type === "text") return [...parts.slice(0, -1), { ...last, text: last.text + text }];
  return [...parts, { type: "text", text }];
}

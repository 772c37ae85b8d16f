import { ActionMistake, argumentTypes, typeOf } from "@mrlm/kit/bridge";
import { isObject, type JsonObject, type JsonValue, MrlmError } from "@mrlm/kit";
import { parseStrictJson } from "@mrlm/kit/service";

/** Titles of actions by which servers offer tools. */
const TOOL_TITLES = ["Action", "CallToolAction", "ListToolsAction"];
/** Fields that every action has. */
const COMMON = ["metadata", "type"];

/** Form of the actions of a server. */
export interface ActionForm {
  readonly hasTools: boolean;
  /** Returns the action of a text; `undefined`: the server takes calls of tools only. Throws {@link ActionMistake} for a text of another form. */
  readonly ofText: ((text: string) => JsonObject) | undefined;
}

/** Form of the actions of servers without a schema. */
const UNKNOWN: JsonObject = { properties: { message: { type: "string" } } };

/**
 * Reads the form of actions from their JSON Schema. A text fills the field that the options name, else the only required field, else the only field. Where
 * several fields are possible, the text is the action as JSON. @throws BRIDGE_RESPONSE_INVALID for a field that the action does not have
 */
export function actionForm(
  schema: JsonObject = UNKNOWN,
  options: { readonly tools: "auto" | "yes" | "no"; readonly action_field?: string | undefined },
): ActionForm {
  const properties = objectOf(schema["properties"]);
  const names = Object.keys(properties).filter((name) => !COMMON.includes(name));
  const isToolAction =
    "tool_name" in properties || (names.length === 0 && TOOL_TITLES.includes(textOf(schema["title"])));
  const hasTools = options.tools === "yes" || (options.tools === "auto" && isToolAction);
  const wanted = options.action_field;
  if (wanted !== undefined && names.length > 0 && !names.includes(wanted))
    throw new MrlmError(
      "BRIDGE_RESPONSE_INVALID",
      `The actions of the server have no field \`${wanted}\`. They have: ${names.join(", ")}.`,
      { hint: "Correct the option `action_field`." },
    );
  if (wanted === undefined && isToolAction) return { hasTools, ofText: undefined };
  const listed = schema["required"];
  const required = names.filter((name) => Array.isArray(listed) && listed.includes(name));
  const field = wanted ?? (required.length === 1 ? required[0] : names.length === 1 ? names[0] : undefined);
  return {
    hasTools,
    ofText: field === undefined ? actionOfJson : (text) => ({ [field]: valueOf(text, argumentTypes(schema, field)) }),
  };
}

/** Returns the value of a field: the text itself, or what it states as a number, a Boolean or JSON. */
function valueOf(text: string, types: ReadonlySet<string>): JsonValue {
  if ([...types].every((type) => type === "string")) return text;
  const value = jsonOf(text);
  if (value !== undefined && typeof value !== "string" && types.has(typeOf(value as JsonValue))) {
    if (types.has("number") || !Number.isInteger(value) || Number.isSafeInteger(value)) return value as JsonValue;
  }
  if (types.has("string")) return text;
  const named = [...types].filter((type) => type !== "integer" || !types.has("number"));
  throw new ActionMistake(`The answer must be ${named.map(form).join(" or ")}.`);
}

function actionOfJson(text: string): JsonObject {
  const value = jsonOf(text);
  if (isObject(value)) return value as JsonObject;
  throw new ActionMistake("The answer must be one JSON object with the fields of the action.");
}

/** Returns a type of JSON with its article and its form. */
function form(type: string): string {
  if (type === "null") return type;
  const detail = type === "array" || type === "object" ? " in JSON" : type === "boolean" ? ": true or false" : "";
  return `${/^[aio]/.test(type) ? "an" : "a"} ${type}${detail}`;
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text.trim());
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

import { isObject, type JsonObject, type JsonValue, type Message, type ToolDefinition } from "@mrlm/spec";
import { callMessage } from "@mrlm/kit";
import type { Program } from "./program.ts";
import { quote, spanText, type Text } from "./text.ts";
import { placesOf, type SpanKind } from "./spans.ts";
import type { View } from "./view.ts";

/** Call of a tool whose arguments are copied, constant or those of its schema. */
export interface Call extends Program {
  readonly tool: string;
  readonly sources: ReadonlyMap<string, Source>;
}

/** Source of an argument. */
interface Source {
  readonly words: string;
  of(view: View): JsonValue | undefined;
}

/** Tool, with the arguments that gold gives it. */
export interface KnownTool {
  readonly definition: ToolDefinition;
  readonly given: readonly JsonObject[];
}

/** Spans that are copied into arguments, the likeliest first: the first and the last of a kind. */
const COPIED_KINDS =
  "text quoted expression name- identifier number field- address word- quoted- number- number:1 number:-2 name line line- field identifier- word json option bracket address- value part sentence- code";
const COPIED = placesOf(COPIED_KINDS);

/** Kinds whose spans are tried one after the other. */
const SWARMS: readonly SpanKind[] = ["number", "quoted", "name", "identifier", "word", "part", "value", "json"];
/** Values of the type of an argument. */
const NUMBERS = [0, 1, 2, 5, 10, 100, -1, 999_999_999];
const TEXTS = ["", "a", "1", "*", ".", "..", "/", "true", "answer", "test"];

/**
 * Returns calls of a tool: one whose arguments are all typical, one for each other value of each argument. After another call,
 * arguments of the same names stay, and what came last is copied.
 */
export function callsOf({ definition, given }: KnownTool, before?: Call): Call[] {
  const schemas = schemasOf(definition);
  const names = Object.keys(schemas);
  const needed = neededOf(definition, given[0]);
  const area = before === undefined ? "question" : "latest";
  const copied = (name: string): Source[] =>
    COPIED.map(([kind, place]) => copiedSource(spanText(area, kind, place, 1), schemas[name]));
  const valuesOf = (name: string): Source[] => {
    const values = given.map((args) => args[name]).filter((value) => value !== undefined);
    const typical = [...new Set(values)].slice(0, 3).map(constantSource);
    if (before !== undefined) return [...typical, ...copied(name)];
    const schema = schemaValues(schemas[name]).map(constantSource);
    const isOpen = isObject(schemas[name]) && schemas[name]["type"] === "string" && schema.length === TEXTS.length;
    return [...typical, ...(isOpen ? [...copied(name), ...schema] : [...schema, ...copied(name)])];
  };
  const byName = new Map(names.map((name) => [name, valuesOf(name)]));
  const first = (name: string): Source =>
    before?.sources.get(name) ?? byName.get(name)?.[0] ?? constantSource(schemaValues(schemas[name])[0] ?? "");
  const make = (sources: ReadonlyMap<string, Source>): Call => callOf(definition.name, sources);
  const base = (): Map<string, Source> => new Map(needed.map((name) => [name, first(name)]));
  const calls = [make(base())];
  const most = Math.max(0, ...[...byName.values()].map((values) => values.length));
  for (let i = 0; i < most; i++)
    for (const [name, values] of byName) {
      const value = values[i];
      if (value !== undefined) calls.push(make(base().set(name, value)));
    }
  return calls;
}

function schemasOf({ parameters: { properties } }: ToolDefinition): JsonObject {
  return isObject(properties) ? properties : {};
}

function neededOf(definition: ToolDefinition, typical: JsonObject = {}): string[] {
  const { required } = definition.parameters;
  return Object.keys(schemasOf(definition)).filter(
    (name) => !Array.isArray(required) || required.includes(name) || Object.hasOwn(typical, name),
  );
}

function constantSource(value: JsonValue): Source {
  return { words: quote(typeof value === "string" ? value : JSON.stringify(value), 40), of: () => value };
}

/** Source of a copied text, as a number or a list where the schema asks for one. */
function copiedSource({ words, of }: Text, schema: unknown): Source {
  const type = isObject(schema) ? schema["type"] : undefined;
  return {
    words,
    of: (view) => {
      const text = of(view);
      if (text === undefined) return undefined;
      if (type === "number" || type === "integer") return Number.isFinite(Number(text)) ? Number(text) : undefined;
      if (type === "boolean" || type === "object") return undefined;
      return type === "array" ? [text] : text;
    },
  };
}

/** Returns values that a schema names, else some of its type. */
function schemaValues(schema: unknown): JsonValue[] {
  if (!isObject(schema)) return [""];
  const {
    enum: all,
    const: only,
    default: preset,
    examples,
    type,
    minimum,
    maximum,
    anyOf,
    items,
  } = schema as JsonObject;
  const named = [...(Array.isArray(all) ? all : []), only, preset, ...(Array.isArray(examples) ? examples : [])];
  const given = named.filter((value) => value !== undefined) as JsonValue[];
  if (given.length > 0) return given;
  if (Array.isArray(anyOf)) return anyOf.flatMap(schemaValues);
  if (type === "number" || type === "integer")
    return [...new Set([minimum ?? 1, ...NUMBERS, maximum ?? 3])] as JsonValue[];
  if (type === "boolean") return [true, false];
  if (type === "array") return [[], schemaValues(items).slice(0, 1), schemaValues(items).slice(0, 3)];
  return type === "object" ? [{}] : TEXTS;
}

function callOf(tool: string, sources: ReadonlyMap<string, Source>): Call {
  const words = [...sources].map(([name, source]) => `${name}: ${source.words}`).join(", ");
  return {
    family: "tool",
    tool,
    sources,
    words: `a call of ${tool} with ${words === "" ? "no argument" : words}`,
    act: (view): Message | undefined => {
      const values = [...sources].map(([name, source]) => [name, source.of(view)] as const);
      if (values.some(([, value]) => value === undefined)) return undefined;
      return callMessage(tool, Object.fromEntries(values) as JsonObject);
    },
  };
}

/** Returns programs that call a tool with each of many candidates: all in one message, or one in each turn. */
export function swarmsOf({ definition, given }: KnownTool): Program[] {
  const schemas = schemasOf(definition);
  const needed = neededOf(definition);
  const [varied] = needed;
  if (varied === undefined) return [];
  const schema = schemas[varied];
  const isNumber = isObject(schema) && /^(number|integer)$/.test(String(schema["type"]));
  const typical = given[0] ?? {};
  const others = Object.fromEntries(
    needed.slice(1).map((name) => [name, typical[name] ?? schemaValues(schemas[name])[0] ?? ""]),
  );
  // Codes of one to three digits are all tried, with their zeros.
  const width = /^\d{1,3}$/.exec(String(typical[varied]))?.[0].length ?? 2;
  const numbers = Array.from({ length: 10 ** width }, (_, i) => (isNumber ? i : String(i).padStart(width, "0")));
  const lists: readonly (readonly [string, (view: View) => readonly JsonValue[]])[] = [
    ["the values of its schema", () => schemaValues(schema)],
    [`the numbers of ${width} digits`, () => numbers],
    ["the letters", () => [..."abcdefghijklmnopqrstuvwxyz"]],
    ...SWARMS.map((kind) => {
      const list = (view: View): readonly JsonValue[] =>
        view
          .spans("question", kind)
          .slice(0, 100)
          .map((span) => (isNumber ? Number(span) || 0 : span));
      return [`the spans "${kind}" of the question`, list] as const;
    }),
  ];
  const callWith = (value: JsonValue): Message => callMessage(definition.name, { ...others, [varied]: value });
  return lists.flatMap(([words, list]): Program[] => [
    {
      family: "tool",
      words: `calls of ${definition.name} with ${words}, in one message`,
      act: (view) => ({ role: "assistant", parts: list(view).flatMap((value) => callWith(value).parts) }),
    },
    {
      family: "tool",
      words: `calls of ${definition.name} with ${words}, one in each turn`,
      act: (view) => {
        const value = list(view)[view.turn % Math.max(1, list(view).length)];
        return value === undefined ? undefined : callWith(value);
      },
    },
  ]);
}

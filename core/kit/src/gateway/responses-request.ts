import { defined, type JsonObject, type Message, type Part } from "@mrlm/spec";
import { z } from "zod";
import { fromChatTools } from "../recorded/chat-tools.ts";
import { argumentsOf } from "./chat-request.ts";
import { assertNoPrefill, checkResults } from "./check-results.ts";
import type { ModelCall } from "./codec.ts";
import { contentSchema, contentText } from "./content-text.ts";
import { parseBody, parsePart, type Place, recordedParameters, samplerParameters, unsupported } from "./parameters.ts";
import { checkToolNames, toolName } from "./tool-names.ts";

const TEXT_PARTS: readonly string[] = [
  "input_text",
  "output_text",
  "summary_text",
  "reasoning_text",
  "text",
  "refusal",
];

const item = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    role: z.enum(["system", "developer", "user", "assistant"]),
    content: contentSchema,
  }),
  z.object({
    type: z.literal("reasoning"),
    summary: contentSchema.nullish(),
    content: contentSchema.nullish(),
    encrypted_content: z.string().nullish(),
  }),
  z.object({
    type: z.literal("function_call"),
    call_id: z.string(),
    namespace: z.string().nullish(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ type: z.literal("function_call_output"), call_id: z.string(), output: contentSchema }),
  z.object({
    type: z.literal("custom_tool_call"),
    call_id: z.string(),
    namespace: z.string().nullish(),
    name: z.string(),
    input: z.string(),
  }),
  z.object({ type: z.literal("custom_tool_call_output"), call_id: z.string(), output: contentSchema }),
]);
type Item = z.output<typeof item>;
type GivenItem = Readonly<Record<string, unknown>> & { readonly type?: string | undefined };
const ITEMS: readonly string[] = item.options.map(({ shape }) => shape.type.value);

/** Beginning of a reasoning that this gateway wrote. */
const SEALED = "mrlm:";

/** Reasoning as the text that clients return without reading it, where they return no other form. It is not secret. */
export const sealed = {
  write: (text: string): string => `${SEALED}${Buffer.from(text).toString("base64")}`,
  /** Returns the empty text for that of another server. */
  read: (text: string): string =>
    text.startsWith(SEALED) ? Buffer.from(text.slice(SEALED.length), "base64").toString() : "",
};

/** Between a namespace and the name of a function of it. */
export const IN_NAMESPACE = "__";

const format = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), name: z.string(), schema: z.record(z.string(), z.json()).optional() }),
]);

const tool = z.looseObject({
  type: z.string(),
  /** Without an effect: arguments are not constrained to the schema. */
  strict: z.boolean().nullish(),
  name: toolName.optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
});
type Tool = z.output<typeof tool>;
/** Argument of a custom tool for the policy. */
const INPUT = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };
const customFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("grammar"), syntax: z.enum(["lark", "regex"]), definition: z.string() }),
]);
const namespace = z.strictObject({
  type: z.literal("namespace"),
  name: z.string().min(1),
  description: z.string().nullish(),
  tools: z.array(tool),
});

const responsesBody = z.strictObject({
  ...samplerParameters,
  model: z.string(),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional() })).min(1)]),
  instructions: z.string().optional(),
  max_output_tokens: z.int().min(1).optional(),
  stream: z.boolean().optional(),
  stream_options: z.unknown().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.object({ type: z.enum(["function", "custom"]), name: z.string() })])
    .optional(),
  text: z.strictObject({ format: format.nullish(), verbosity: z.string().nullish() }).optional(),
});

/** Parses the body of a request of OpenAI's Responses. Throws ApiError with status 400. */
export function parseResponsesRequest(body: unknown, place: Place = "episode"): ModelCall {
  const {
    model,
    input,
    instructions,
    max_output_tokens: maxTokens,
    stream = false,
    tools: given = [],
    tool_choice: choice,
    text,
    stream_options: _,
    ...sampling
  } = parseBody(responsesBody, body, place);
  const tools = given.flatMap(functionsOf);
  checkToolNames(
    tools.map(({ name }) => name),
    place,
    (i) => `${tools[i]?.place}.name`,
  );
  const spaces = tools.flatMap(({ name, namespace: space }) => (space === undefined ? [] : ([[name, space]] as const)));
  const texts = tools.flatMap(({ name, isText }) => (isText ? [name] : []));
  const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const messages = toMessages(items.map((each, i) => itemOf(each, `input.${i}`)));
  assertNoPrefill(messages, `input.${items.length - 1}`);
  if (instructions !== undefined) messages.unshift({ role: "system", parts: textPart("text", instructions) });
  const form = text?.format;
  return {
    messages,
    model,
    stream,
    sampling,
    stops: [],
    tools: choice === "none" ? [] : fromChatTools(tools),
    ...(spaces.length > 0 && { namespaces: new Map(spaces) }),
    ...(texts.length > 0 && { textTools: new Set(texts) }),
    parameters: { ...recordedParameters(body as JsonObject), ...defined({ verbosity: text?.verbosity ?? undefined }) },
    ...defined({ maxTokens }),
    ...(choice === "required" && { requiredTool: "" }),
    ...(typeof choice === "object" && { requiredTool: offeredName(tools, choice.name) }),
    ...(form?.type === "json_object" && { format: {} }),
    ...(form?.type === "json_schema" && { format: defined({ name: form.name, schema: form.schema }) }),
  };
}

/** Returns the functions of a tool: itself, or those of a namespace. */
function functionsOf(given: Tool, i: number) {
  if (given.type !== "namespace") return [toFunction(given, `tools.${i}`)];
  const { name, tools } = parsePart(namespace, given, `tools.${i}`);
  return tools.map((each, t) => toFunction(each, `tools.${i}.tools.${t}`, name));
}

function toFunction(
  { type, name, description, parameters, strict: _, format: form, ...rest }: Tool,
  place: string,
  space?: string,
) {
  const isText = type === "custom";
  if ((type !== "function" && !isText) || name === undefined)
    throw unsupported(place, ` A tool of type '${type}' is no function of the program. Turn it off in the program.`);
  const [other] = [...(!isText && form !== undefined ? ["format"] : []), ...Object.keys(rest)];
  if (other !== undefined) throw unsupported(`${place}.${other}`);
  const own = { name: nameIn(space, name), namespace: space, place, isText };
  if (!isText) return { ...own, description, parameters };
  const grammar = form === undefined ? undefined : parsePart(customFormat, form, `${place}.format`);
  // No sampler is held to a grammar: the policy reads it.
  const text = grammar?.type === "grammar" ? `\n\nForm of \`input\` (${grammar.syntax}):\n${grammar.definition}` : "";
  return { ...own, description: `${description ?? ""}${text}`, parameters: INPUT };
}

/** Returns the name by which the policy has a function: a client may name one of a namespace without it. */
function offeredName(tools: readonly { readonly name: string }[], name: string): string {
  if (tools.some((each) => each.name === name)) return name;
  const inside = tools.filter((each) => each.name.endsWith(`${IN_NAMESPACE}${name}`));
  return inside.length === 1 ? (inside[0] as (typeof inside)[number]).name : name;
}

/** Returns the name of a function for the policy. */
function nameIn(space: string | null | undefined, name: string): string {
  return space ? `${space}${IN_NAMESPACE}${name}` : name;
}

function itemOf(given: GivenItem, place: string): Item {
  const { type = "message" } = given;
  if (!ITEMS.includes(type)) throw unsupported(place, ` An item of type '${type}' is not one of ${ITEMS.join(", ")}.`);
  return parsePart(item, { ...given, type }, place);
}

/** Reads an item of the output of a model: a message, a reasoning or a call. Throws ApiError with status 400. */
export function outputParts(given: GivenItem, place: string): Part[] {
  return partsOf(itemOf(given, place), new Map(), place);
}

/** Joins the items of one turn of the assistant, and those of one turn of results. */
function toMessages(items: readonly Item[]): Message[] {
  const messages: { readonly role: Message["role"]; readonly parts: Part[] }[] = [];
  const checked: { role: string; index: number; tool_calls?: { id: string }[]; tool_call_id?: string }[] = [];
  const names = new Map<string, string>();
  for (const [index, each] of items.entries()) {
    const role = roleOf(each);
    const last = messages.at(-1);
    const isJoined = (role === "assistant" || role === "tool") && last?.role === role;
    const parts = partsOf(each, names, `input.${index}`);
    if (isJoined) last.parts.push(...parts);
    else messages.push({ role, parts });
    const calls = each.type === "function_call" || each.type === "custom_tool_call" ? [{ id: each.call_id }] : [];
    if (isOutput(each)) checked.push({ role, index, tool_call_id: each.call_id });
    else if (isJoined) checked.at(-1)?.tool_calls?.push(...calls);
    else checked.push({ role, index, tool_calls: calls });
  }
  checkResults(checked, { list: "input", calls: "call_id", result: "call_id" });
  return messages;
}

function isOutput(each: Item): each is Extract<Item, { readonly output: unknown }> {
  return each.type === "function_call_output" || each.type === "custom_tool_call_output";
}

function roleOf(each: Item): Message["role"] {
  if (isOutput(each)) return "tool";
  if (each.type !== "message") return "assistant";
  return each.role === "developer" ? "system" : each.role;
}

function partsOf(each: Item, names: Map<string, string>, place: string): Part[] {
  if (each.type === "message") return textPart("text", contentText(each.content, `${place}.content`, TEXT_PARTS));
  if (each.type === "reasoning") {
    const content = contentText(each.content, `${place}.content`, TEXT_PARTS);
    const shown = content === "" ? contentText(each.summary, `${place}.summary`, TEXT_PARTS) : content;
    return textPart("thinking", shown === "" ? sealed.read(each.encrypted_content ?? "") : shown);
  }
  if (!isOutput(each)) {
    const name = nameIn(each.namespace, each.name);
    names.set(each.call_id, name);
    const given = each.type === "function_call" ? argumentsOf(each.arguments, place) : { input: each.input };
    return [{ type: "tool-call", id: each.call_id, name, arguments: given }];
  }
  const content = textPart("text", contentText(each.output, `${place}.output`, TEXT_PARTS));
  return [{ type: "tool-result", id: each.call_id, name: names.get(each.call_id) ?? "", content, isError: false }];
}

function textPart<T extends "text" | "thinking">(type: T, text: string): { readonly type: T; readonly text: string }[] {
  return text === "" ? [] : [{ type, text }];
}

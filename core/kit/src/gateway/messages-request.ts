import { defined, type JsonObject, type Message, type Part, type ToolDefinition } from "@mrlm/spec";
import { z } from "zod";
import { invalidParameter } from "./api-error.ts";
import { assertNoPrefill, checkResults } from "./check-results.ts";
import type { ModelCall } from "./codec.ts";
import { contentSchema, contentText } from "./content-text.ts";
import {
  parseBody,
  parsePart,
  type Place,
  recordedParameters,
  samplerParameters,
  stopString,
  unsupported,
} from "./parameters.ts";
import { checkToolNames, toolName } from "./tool-names.ts";

const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("thinking"), thinking: z.string() }),
  z.object({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.record(z.string(), z.json()) }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    content: contentSchema.nullish(),
    is_error: z.boolean().nullish(),
  }),
]);
type Block = z.output<typeof block>;
const BLOCKS = {
  user: ["text", "tool_result"],
  assistant: ["text", "thinking", "tool_use"],
  system: ["text"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Role = keyof typeof BLOCKS;
const ROLES = Object.keys(BLOCKS) as Role[];
/** Block in the result of a search for tools, which loads a deferred one. */
const reference = z.object({ type: z.literal("tool_reference"), tool_name: z.string() });

/** Members of a tool that change no answer: the sampler has no cache of prompts, arguments are not constrained to the schema, and a call is streamed as a whole. */
const WITHOUT_EFFECT = {
  cache_control: z.unknown().optional(),
  strict: z.boolean().nullish(),
  eager_input_streaming: z.boolean().nullish(),
};
const PARALLEL = { disable_parallel_tool_use: z.boolean().nullish() };

const messagesBody = z.strictObject({
  ...samplerParameters,
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(z.object({ role: z.enum(ROLES), content: contentSchema })).min(1),
  system: contentSchema.optional(),
  stop_sequences: z.array(stopString).max(16).optional(),
  stream: z.boolean().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.string().nullish(),
        name: toolName,
        description: z.string().nullish(),
        input_schema: z.record(z.string(), z.json()).optional(),
        /** Whether the tool is offered only after a result in the history has a reference to it. */
        defer_loading: z.boolean().nullish(),
        ...WITHOUT_EFFECT,
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.enum(["auto", "any", "none"]), ...PARALLEL }),
      z.strictObject({ type: z.literal("tool"), name: z.string(), ...PARALLEL }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      format: z.object({ type: z.literal("json_schema"), schema: z.record(z.string(), z.json()) }).nullish(),
      effort: z.string().nullish(),
    })
    .optional(),
});

/** Parses the body of a request of Anthropic's Messages. Throws ApiError with status 400. */
export function parseMessagesRequest(body: unknown, place: Place = "episode"): ModelCall {
  const {
    model,
    max_tokens: maxTokens,
    messages: given,
    system,
    stop_sequences: stops = [],
    stream = false,
    tools = [],
    tool_choice: choice,
    output_config: output,
    ...sampling
  } = parseBody(messagesBody, body, place);
  checkToolNames(
    tools.map(({ name }) => name),
    place,
    (i) => `tools.${i}.name`,
  );
  const prompt = contentText(system, "system");
  const messages: Message[] = prompt === "" ? [] : [{ role: "system", parts: [{ type: "text", text: prompt }] }];
  const { messages: history, loaded } = toMessages(given);
  messages.push(...history);
  assertNoPrefill(messages, `messages.${given.length - 1}`);
  return {
    messages,
    model,
    maxTokens,
    stops,
    stream,
    sampling,
    tools: choice?.type === "none" ? [] : tools.flatMap((tool, i) => (isOffered(tool, loaded) ? toTool(tool, i) : [])),
    parameters: {
      ...recordedParameters(body as JsonObject),
      ...defined({
        effort: output?.effort ?? undefined,
        disable_parallel_tool_use: choice?.disable_parallel_tool_use ?? undefined,
      }),
    },
    ...(choice?.type === "any" && { requiredTool: "" }),
    ...(choice?.type === "tool" && { requiredTool: choice.name }),
    ...defined({ format: output?.format ? { schema: output.format.schema } : undefined }),
  };
}

type GivenTool = NonNullable<z.output<typeof messagesBody>["tools"]>[number];

function isOffered({ defer_loading, name }: GivenTool, loaded: ReadonlySet<string>): boolean {
  return defer_loading !== true || loaded.has(name);
}

function toTool({ type, name, description, input_schema }: GivenTool, i: number): ToolDefinition {
  if (input_schema === undefined || (type ?? "custom") !== "custom")
    throw unsupported(`tools.${i}`, ` A tool of type '${type}' runs on a server of its own.`);
  return { name, description: description ?? "", parameters: input_schema };
}

/** @returns also the names of the deferred tools that results have loaded */
function toMessages(given: z.output<typeof messagesBody>["messages"]) {
  const blocks = given.map(({ role, content }, i) => blocksOf(role, content, i));
  checkResults(
    given.flatMap(({ role }, index) => {
      const own = blocks[index] ?? [];
      const calls = own.filter((each) => each.type === "tool_use");
      const results = own.flatMap((each) =>
        each.type === "tool_result" ? [{ role: "tool", tool_call_id: each.tool_use_id, index }] : [],
      );
      return results.length < own.length ? [...results, { role, tool_calls: calls, index }] : results;
    }),
    { list: "messages", calls: "content", result: "content" },
  );
  const names = new Map(
    blocks.flat().flatMap((each): [string, string][] => (each.type === "tool_use" ? [[each.id, each.name]] : [])),
  );
  const loaded = new Set<string>();
  const messages = given.flatMap(({ role }, i) => {
    const parts = (blocks[i] ?? []).map((each) => toPart(each, names, loaded, i));
    const results = parts.filter(({ type }) => type === "tool-result");
    const others = parts.slice(results.length);
    if (others.some(({ type }) => type === "tool-result"))
      throw invalidParameter(`messages.${i}.content`, `In message ${i} a 'tool_result' follows another block.`);
    const read: Message[] = results.length === 0 ? [] : [{ role: "tool", parts: results }];
    return others.length === 0 && results.length > 0 ? read : [...read, { role, parts: others }];
  });
  return { messages, loaded };
}

function blocksOf(role: Role, content: z.output<typeof contentSchema>, i: number): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((each, b) => {
    const place = `messages.${i}.content.${b}`;
    const known: readonly string[] = BLOCKS[role];
    if (!known.includes(each.type))
      throw unsupported(place, ` A message of the ${role} has blocks of ${known.join(", ")}.`);
    return parsePart(block, each, place);
  });
}

function toPart(each: Block, names: ReadonlyMap<string, string>, loaded: Set<string>, i: number): Part {
  if (each.type === "text") return { type: "text", text: each.text };
  if (each.type === "thinking") return { type: "thinking", text: each.thinking };
  if (each.type === "tool_use") return { type: "tool-call", id: each.id, name: each.name, arguments: each.input };
  const { tool_use_id: id, content, is_error: isError } = each;
  const place = `messages.${i}.content`;
  const shown = contentText(typeof content === "string" ? content : content?.map(textOf), place);
  function textOf(part: { readonly type: string }) {
    if (part.type !== "tool_reference") return part;
    const { tool_name } = parsePart(reference, part, place);
    loaded.add(tool_name);
    return { type: "text", text: `${tool_name}\n` };
  }
  return {
    type: "tool-result",
    id,
    name: names.get(id) ?? "",
    content: shown === "" ? [] : [{ type: "text", text: shown }],
    isError: isError ?? false,
  };
}

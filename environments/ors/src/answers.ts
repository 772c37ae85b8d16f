import { contentOf, readShape, textOrJson } from "@mrlm/kit/bridge";
import {
  type ImagePart,
  isObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolDefinition,
} from "@mrlm/kit";
import { z } from "zod";

const object = z.custom<JsonObject>((value) => isObject(value), "expected an object");
const block = z.looseObject({ type: z.string() });

/** Facts that a server of mrlm states beside those of the protocol. */
const ours = z.looseObject({
  truncated: z.boolean().optional(),
  is_error: z.boolean().optional(),
  components: z.record(z.string(), z.number()).optional(),
  unscored: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

const output = z.looseObject({
  blocks: z.array(block),
  metadata: z.looseObject({ mrlm: ours.optional() }).nullish(),
  reward: z.unknown().optional(),
  finished: z.boolean(),
});

const called = z.discriminatedUnion("ok", [
  z.looseObject({ ok: z.literal(true), output }),
  z.looseObject({ ok: z.literal(false), error: z.string() }),
]);

const tools = z.looseObject({
  tools: z.array(
    z.looseObject({ name: z.string(), description: z.string().nullish(), input_schema: object.nullish() }),
  ),
  terminal_tool: z.looseObject({ name: z.string(), arg: z.string() }).nullish(),
});

const messages = z.array(z.looseObject({ role: z.string(), blocks: z.array(block) }));

/** Tool that takes a text. */
export interface TextTool {
  readonly name: string;
  readonly argument: string;
}

/** Tools of an episode. */
export interface OfferedTools {
  readonly tools: readonly ToolDefinition[];
  /** Tool that takes the final message of a model. */
  readonly terminal: TextTool | undefined;
}

/** Reads the answer to a call. @throws BRIDGE_RESPONSE_INVALID, which names the field */
export function readCall(value: JsonValue) {
  return readShape(called, value, "The answer to /call");
}

/** Reads the tools of an episode. @throws BRIDGE_RESPONSE_INVALID, which names the field */
export function readTools(value: JsonValue): OfferedTools {
  const { tools: listed, terminal_tool: terminal } = readShape(tools, value, "The list of tools");
  return {
    tools: listed.map(({ name, description, input_schema: schema }) => ({
      name,
      description: description ?? "",
      parameters: { type: "object", ...schema },
    })),
    terminal: terminal ? { name: terminal.name, argument: terminal.arg } : undefined,
  };
}

/** Reads the first observation from `/prompt`, which has no roles. @throws BRIDGE_RESPONSE_INVALID, which names the field */
export function readPrompt(value: JsonValue): Message[] {
  const parts = partsOf(readShape(z.array(block), value, "The answer to /prompt"));
  return parts.length === 0 ? [] : [{ role: "user", parts }];
}

/** Reads the first observation from `/messages`. Messages of an assistant are examples: they are shown as those of the user. @throws BRIDGE_RESPONSE_INVALID, which names the field */
export function readMessages(value: JsonValue): Message[] {
  return readShape(messages, value, "The answer to /messages").map(({ role, blocks }) => ({
    role: role === "system" ? ("system" as const) : ("user" as const),
    parts: partsOf(blocks),
  }));
}

/** Returns blocks as parts. A call or the result of a tool becomes its text; reasoning is left out. */
export function partsOf(blocks: readonly z.output<typeof block>[]): (TextPart | ImagePart)[] {
  return blocks.flatMap((each): (TextPart | ImagePart)[] => {
    if (each.type === "reasoning") return [];
    if (each.type === "tool_result" && Array.isArray(each["blocks"])) return contentOf(each["blocks"] as JsonValue[]);
    if (each.type === "tool_call")
      return [{ type: "text", text: `${textOrJson(each["name"])} ${textOrJson(each["input"])}` }];
    return contentOf([each as JsonObject]);
  });
}

import { textMessage } from "@mrlm/kit";
import { type ErrorCode, type JsonObject, type Message, MrlmError, parseStrictJson } from "@mrlm/spec";
import type OpenAI from "openai";
import { z } from "zod";
import type { ChatBody } from "./chat-messages.ts";
import { quote } from "./endpoint-error.ts";
import type { Completion, JsonOutput } from "./model-client.ts";
import type { ModelClientOptions } from "./options.ts";

/** Times that an output that cannot be read is sent back with its fault. */
export const MAX_REPAIRS = 2;

/** Result of reading an output: its value, or its fault as a clause for the model, with the error that it is after the last repair. */
export type ReadOutput<T> = { readonly value: T } | { readonly fault: string; readonly error: MrlmError };

/** Returns the field of a request that asks for a form. */
export function responseFormat(
  { name, schema }: JsonOutput<unknown>,
  mode: ModelClientOptions["json"],
): Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, "response_format"> {
  if (mode === "text") return {};
  if (mode === "object") return { response_format: { type: "json_object" } };
  return { response_format: { type: "json_schema", json_schema: { name, schema: jsonSchema(schema), strict: true } } };
}

/** Returns the messages with the form in words, for endpoints that do not enforce a schema. */
export function withForm(
  messages: readonly Message[],
  { schema }: JsonOutput<unknown>,
  mode: ModelClientOptions["json"],
): readonly Message[] {
  return mode === "schema" ? messages : [...messages, textMessage("user", formInWords(jsonSchema(schema)))];
}

/** Returns a request that states the form of its output in words alone, for an endpoint that refuses `response_format`. */
export function inWords({ response_format: format, ...body }: ChatBody): ChatBody {
  if (format?.type !== "json_schema") return body;
  const content = formInWords((format.json_schema.schema ?? {}) as JsonObject);
  return { ...body, messages: [...body.messages, { role: "user", content }] };
}

function formInWords(schema: JsonObject): string {
  return `Answer with one JSON object and nothing else. Its JSON Schema is: ${JSON.stringify(schema)}`;
}

/**
 * Reads an output as JSON. A fault quotes nothing of it: it goes back to the model as an instruction.
 * @param hide removes the keys from a text for an error
 * @throws ENDPOINT_OUTPUT_FILTERED
 */
export function readOutput<T>(
  { text, refusal, finishReason, model, message }: Completion,
  output: JsonOutput<T>,
  hide: (text: string) => string,
): ReadOutput<T> {
  const failure = (code: ErrorCode, what: string): MrlmError => new MrlmError(code, `The ${what}`);
  if (refusal !== undefined || finishReason === "content_filter")
    throw failure(
      "ENDPOINT_OUTPUT_FILTERED",
      `model ${model} refuses to answer${refusal === undefined ? ": the filter of its endpoint removed the output" : `: ${quote(refusal)}`}`,
    );
  const quoted = quote(hide(text));
  if (finishReason === "length")
    return {
      fault: "it ended at its token limit: write less",
      error: failure("ENDPOINT_OUTPUT_CUT", `output of the model ${model} ended at its token limit: ${quoted}`),
    };
  if (text.trim() === "") {
    const returned = message.parts.some((part) => part.type === "thinking") ? "its reasoning and no answer" : "no text";
    return { fault: "it is empty", error: failure("ENDPOINT_OUTPUT_EMPTY", `model ${model} returned ${returned}.`) };
  }
  const read = readJson(text, output);
  if ("value" in read) return read;
  const what = `output of the model ${model} is not of the requested form, also after ${MAX_REPAIRS} repairs: ${read.fault}. It is ${quoted}`;
  return { ...read, error: failure("ENDPOINT_OUTPUT_INVALID", what) };
}

/** Reads a whole text. A block of code that is the whole text is accepted, because many models write one; other text beside the JSON is not. */
function readJson<T>(text: string, { schema }: JsonOutput<T>): { readonly value: T } | { readonly fault: string } {
  const trimmed = text.trim();
  const json = /^```(?:json)?\s*\n([^]*?)\n?```$/i.exec(trimmed)?.[1] ?? trimmed;
  let parsed: unknown;
  try {
    parsed = parseStrictJson(json);
  } catch (error) {
    const { message } = error as Error;
    if (message.endsWith(" occurs twice")) return { fault: "it has a key twice in one object" };
    return { fault: /end of JSON|Unterminated/.test(message) ? "it is half a JSON" : "it is no JSON" };
  }
  const checked = schema.safeParse(parsed);
  if (checked.success) return { value: checked.data };
  return { fault: checked.error.issues.slice(0, 5).map(issueText).join("; ") };
}

function issueText({ code, path, message }: z.core.$ZodIssue): string {
  const place = path.length === 0 ? "the value" : path.join(".");
  return `${place}: ${code === "unrecognized_keys" ? "it has fields that the form does not have" : message}`;
}

/** Returns the messages that ask for a repair: the output, and its fault. */
export function repairMessages(messages: readonly Message[], text: string, fault: string): readonly Message[] {
  return [
    ...messages,
    // Some endpoints refuse a message without text.
    ...(text.trim() === "" ? [] : [textMessage("assistant", text)]),
    textMessage(
      "user",
      `Your output was not accepted: ${fault}. Answer again, with one JSON object of the requested form and nothing else.`,
    ),
  ];
}

function jsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest as JsonObject;
}

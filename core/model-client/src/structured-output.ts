import { textMessage } from "@mrlm/kit";
import { type JsonObject, type Message, MrlmError } from "@mrlm/spec";
import type OpenAI from "openai";
import { z } from "zod";
import { quote } from "./endpoint-error.ts";
import type { Completion, JsonOutput } from "./model-client.ts";
import type { ModelClientOptions } from "./options.ts";

/** Result of reading an output: its value, or its fault as a clause. */
export type ReadOutput<T> = { readonly value: T } | { readonly fault: string };

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
  if (mode === "schema") return messages;
  const form = `Answer with one JSON object and nothing else. Its JSON Schema is: ${JSON.stringify(jsonSchema(schema))}`;
  return [...messages, textMessage("user", form)];
}

/**
 * Reads a complete output. A block of code that is the whole output is accepted, because many models write one; other text beside the JSON is not. A fault
 * quotes nothing of the output: it goes back to the model as an instruction.
 */
export function readOutput<T>(text: string, { schema }: JsonOutput<T>): ReadOutput<T> {
  const trimmed = text.trim();
  const json = /^```(?:json)?\s*\n([^]*?)\n?```$/i.exec(trimmed)?.[1] ?? trimmed;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    const isHalf = /end of JSON|Unterminated/.test((error as Error).message);
    return { fault: isHalf ? "it is half a JSON" : "it is no JSON" };
  }
  const checked = schema.safeParse(parsed);
  if (checked.success) return { value: checked.data };
  return { fault: checked.error.issues.slice(0, 5).map(issueText).join("; ") };
}

function issueText({ code, path, message }: z.core.$ZodIssue): string {
  const place = path.length === 0 ? "the value" : path.join(".");
  return `${place}: ${code === "unrecognized_keys" ? "it has fields that the form does not have" : message}`;
}

/**
 * Rejects an answer that has no complete text to read.
 * @throws ENDPOINT_OUTPUT_EMPTY, ENDPOINT_OUTPUT_CUT, ENDPOINT_OUTPUT_FILTERED
 */
export function assertComplete({ text, refusal, finishReason, model, message }: Completion): void {
  if (refusal !== undefined || finishReason === "content_filter")
    throw new MrlmError(
      "ENDPOINT_OUTPUT_FILTERED",
      `The model ${model} refuses to answer${refusal === undefined ? ": the filter of its endpoint removed the output" : `: ${quote(refusal)}`}`,
    );
  if (finishReason === "length")
    throw new MrlmError(
      "ENDPOINT_OUTPUT_CUT",
      `The output of the model ${model} ended at its token limit: ${quote(text)}`,
    );
  if (text.trim() !== "") return;
  const hasReasoning = message.parts.some((part) => part.type === "thinking");
  throw new MrlmError(
    "ENDPOINT_OUTPUT_EMPTY",
    `The model ${model} returned ${hasReasoning ? "its reasoning and no answer" : "no text"}.`,
  );
}

/** Returns the messages that ask for a repair: the output, and its fault. */
export function repairMessages(messages: readonly Message[], text: string, fault: string): readonly Message[] {
  return [
    ...messages,
    textMessage("assistant", text),
    textMessage(
      "user",
      `Your output was not accepted: ${fault}. Answer again, with one JSON object of the requested form and nothing else.`,
    ),
  ];
}

/** Returns the error of an output that has a fault after its repair too. */
export function invalidOutput(model: string, text: string, fault: string): MrlmError {
  return new MrlmError(
    "ENDPOINT_OUTPUT_INVALID",
    `The output of the model ${model} is not of the requested form, also after a repair: ${fault}. It is ${quote(text)}`,
  );
}

function jsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest as JsonObject;
}

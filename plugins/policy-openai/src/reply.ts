import type { Completion } from "@mrlm/model-client";
import { type Message, MrlmError, type Part } from "@mrlm/kit";
import type { ErrorCode } from "@mrlm/kit/service";

/** A server that ignores the limit of tokens may return any length. */
const MAX_CHARACTERS = 1_000_000;

/**
 * Returns the message of an agent from an answer of its endpoint.
 * @param callIds ids of the calls in the conversation; those of the answer are added
 * @throws ENDPOINT_OUTPUT_FILTERED, ENDPOINT_OUTPUT_CUT, ENDPOINT_OUTPUT_EMPTY, ENDPOINT_OUTPUT_INVALID: the answer is no turn
 */
export function replyOf(
  { message, refusal, finishReason, model }: Completion,
  {
    hasTools,
    mayBeEmpty,
    callIds,
  }: { readonly hasTools: boolean; readonly mayBeEmpty: boolean; readonly callIds: Set<string> },
): Message {
  const failed = (code: ErrorCode, what: string): MrlmError =>
    new MrlmError(code, `The model ${model} ${what}`, { isRetryable: false });
  if (refusal !== undefined) throw failed("ENDPOINT_OUTPUT_FILTERED", `refused to answer: ${refusal}`);
  if (finishReason === "content_filter")
    throw failed("ENDPOINT_OUTPUT_FILTERED", "returned an answer that a filter of the endpoint ended.");
  const answered = message.parts.some((part) => part.type !== "thinking" && !isBlank(part));
  if (!answered && !mayBeEmpty)
    throw finishReason === "length"
      ? failed("ENDPOINT_OUTPUT_CUT", "reached its token limit before it wrote an answer.")
      : failed("ENDPOINT_OUTPUT_EMPTY", "returned no text and no call.");
  const isCall = ({ type }: Part): boolean => type === "tool-call" || type === "malformed-call";
  if (!hasTools && message.parts.some(isCall))
    throw failed("ENDPOINT_OUTPUT_INVALID", "called a tool, and the turn offers none.");
  const characters = JSON.stringify(message.parts).length;
  if (characters > MAX_CHARACTERS)
    throw failed("ENDPOINT_OUTPUT_INVALID", `returned ${characters} characters; a turn has at most ${MAX_CHARACTERS}.`);
  return { ...message, parts: message.parts.map((part) => withNewId(wellFormed(part), callIds)) };
}

/** Replaces surrogates without their pair, which JSON may hold and neither a tokenizer nor a database takes. */
function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)])) as T;
}

function isBlank(part: Part): boolean {
  return part.type === "text" && part.text.trim() === "";
}

function withNewId(part: Part, callIds: Set<string>): Part {
  if (part.type !== "tool-call") return part;
  let { id } = part;
  for (let count = 2; callIds.has(id); count++) id = `${part.id}-${count}`;
  callIds.add(id);
  return { ...part, id };
}

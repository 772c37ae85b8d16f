import { MrlmError } from "@mrlm/spec";
import { type Dispatcher, fetch } from "undici";
import { chatAnswer } from "./chat-answer.ts";
import {
  type AttemptFailure,
  type AttemptOutcome,
  failureOfBody,
  failureOfResponse,
  retryDelayOf,
  statusOfErrorBody,
} from "./endpoint-error.ts";
import { readEventStream } from "./read-event-stream.ts";
import type { Secrets } from "./secrets.ts";

/** One HTTP request. */
export interface ExchangeRequest {
  /** Model and endpoint, for messages. */
  readonly source: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
  readonly secrets: Secrets;
}

/** Longest response that is read. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Sends a request and reads the whole response. Rejects with the reason of the signal alone. */
export async function exchange(request: ExchangeRequest): Promise<AttemptOutcome> {
  const { source, url, headers, body, signal, dispatcher, secrets } = request;
  try {
    const response = await fetch(url, { method: "POST", headers, body, signal, dispatcher, redirect: "manual" });
    const text = secrets.hide(await readText(response.body, MAX_BYTES));
    if (response.status !== 200) {
      const retryDelayMs = retryDelayOf(response.headers);
      return failureOfResponse({ source, status: response.status, body: text, retryDelayMs });
    }
    const isStream = (response.headers.get("content-type") ?? "").includes("text/event-stream");
    return isStream ? await readEventStream(source, text) : readCompletion(source, text);
  } catch (error) {
    signal.throwIfAborted();
    return unreachable(source, secrets.hide(reasonOf(error)));
  }
}

function readCompletion(source: string, text: string): AttemptOutcome {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failureOfBody(source, text, /^\s*</.test(text) ? "a page of HTML or XML" : "a text that is no JSON");
  }
  const status = statusOfErrorBody(parsed);
  if (status !== undefined) return failureOfResponse({ source, status, body: text });
  const answer = chatAnswer.safeParse(parsed);
  return answer.success ? { answer: answer.data } : failureOfBody(source, text, "a JSON that is no chat completion");
}

async function readText(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The error itself is no cause: its fields can hold the headers of the request. */
function unreachable(source: string, reason: string): AttemptFailure {
  const error = new MrlmError(
    "ENDPOINT_UNREACHABLE",
    `${source} cannot be reached, or closed the connection: ${reason}`,
  );
  return { error, isRetryable: true };
}

/** Innermost cause: `fetch failed` says nothing. */
function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (!(inner instanceof Error)) return String(inner);
  const code = (inner as NodeJS.ErrnoException).code;
  return inner.message === "" ? (code ?? inner.name) : inner.message;
}

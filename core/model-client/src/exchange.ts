import { MrlmError, parseJson } from "@mrlm/spec";
import { type Dispatcher, fetch } from "undici";
import { chatAnswer } from "./chat-answer.ts";
import {
  type AttemptFailure,
  type AttemptOutcome,
  failureOfBody,
  failureOfResponse,
  type ReceivedResponse,
  retryDelayOf,
  statusOfErrorBody,
} from "./endpoint-error.ts";
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
    const text = await readText(response.body, MAX_BYTES);
    const retryDelayMs = retryDelayOf(response.headers);
    const hide = (shown: string): string => secrets.hide(shown);
    const received = { source, status: response.status, body: text, retryDelayMs, hide };
    if (response.status !== 200) return failureOfResponse(received);
    const isStream = (response.headers.get("content-type") ?? "").includes("text/event-stream");
    return isStream ? await readStream(received) : readCompletion(received);
  } catch (error) {
    signal.throwIfAborted();
    return unreachable(source, secrets.hide(reasonOf(error)));
  }
}

async function readStream(received: ReceivedResponse): Promise<AttemptOutcome> {
  const { readEventStream } = await import("./read-event-stream.ts");
  return await readEventStream(received);
}

function readCompletion(received: ReceivedResponse): AttemptOutcome {
  let parsed: unknown;
  try {
    parsed = parseJson(received.body);
  } catch {
    const isPage = /^\s*</.test(received.body);
    return failureOfBody(received, isPage ? "a page of HTML or XML" : "a text that is no JSON");
  }
  const status = statusOfErrorBody(parsed);
  if (status !== undefined) return failureOfResponse({ ...received, status });
  const answer = chatAnswer.safeParse(parsed);
  return answer.success ? { answer: answer.data } : failureOfBody(received, "a JSON that is no chat completion");
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

/** Returns the message of the innermost cause: that of the error itself is `fetch failed`. */
function reasonOf(error: unknown): string {
  let inner = error as NodeJS.ErrnoException;
  while (typeof inner.cause === "object" && inner.cause !== null) inner = inner.cause as NodeJS.ErrnoException;
  return inner.message || (inner.code ?? String(inner));
}

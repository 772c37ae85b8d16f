import { type ErrorCode, MrlmError, parseJson } from "@mrlm/spec";
import type { ChatAnswer } from "./chat-answer.ts";

/** Failed attempt: its error, and whether the same request may succeed later. */
export interface AttemptFailure {
  readonly error: MrlmError;
  readonly isRetryable: boolean;
  /** Wait that the endpoint asks for. */
  readonly retryDelayMs?: number;
  /** Whether the endpoint has no structured output of the requested kind. */
  readonly refusesFormat?: boolean;
}

export type AttemptOutcome = { readonly answer: ChatAnswer } | AttemptFailure;

/** Response as it was received. */
export interface ReceivedResponse {
  /** Model and endpoint, for messages. */
  readonly source: string;
  readonly status: number;
  readonly body: string;
  readonly retryDelayMs?: number | undefined;
  /** Removes the keys from a text for messages: an endpoint may quote one. */
  hide(text: string): string;
}

const CONTEXT_CODES = new Set(["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"]);
const CONTEXT_WORDS =
  /context[ _]?(length|window|size)|maximum context|max_model_len|n_ctx|prompt is too long|input is too long|too many (input )?tokens|must be <=? ?\d+.*tokens|tokens.* must be <=? ?\d+/i;
const FILTER_CODES = new Set(["content_filter", "content_policy_violation", "moderation_blocked"]);
const PERMANENT_LIMITS = new Set(["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]);
const MAX_QUOTE = 300;

/** Returns the failure that a response states. Codes of the body refine the status, because servers use 400 and 500 for many causes. */
export function failureOfResponse({ source, status, body, retryDelayMs, hide }: ReceivedResponse): AttemptFailure {
  const { code, type, message } = readErrorBody(body);
  const quoted = message === "" ? "without a message" : `with: ${quote(hide(message))}`;
  const fail = (name: ErrorCode, what: string, isRetryable = false): AttemptFailure =>
    failure(name, `${source} ${what}, ${quoted}`, { isRetryable, retryDelayMs });
  const answered = `answered with the status ${status}`;
  if (status === 401 || status === 403) return fail("ENDPOINT_KEY_INVALID", `refuses the API key (status ${status})`);
  if (FILTER_CODES.has(code)) return fail("ENDPOINT_OUTPUT_FILTERED", `${answered}: its filter refuses the request`);
  if (CONTEXT_CODES.has(code) || CONTEXT_CODES.has(type) || (status !== 429 && CONTEXT_WORDS.test(message)))
    return fail("ENDPOINT_CONTEXT_TOO_LONG", `${answered}: the request is too long`);
  if (status === 404 || (status >= 300 && status < 400)) return fail("ENDPOINT_MODEL_NOT_FOUND", answered);
  if (status === 429) {
    const isPermanent = PERMANENT_LIMITS.has(code) || PERMANENT_LIMITS.has(type);
    return fail("ENDPOINT_RATE_LIMITED", answered, !isPermanent);
  }
  if (status === 408 || status === 409 || status === 425 || status >= 500)
    return fail("ENDPOINT_FAILED", answered, true);
  const refused = fail("ENDPOINT_REQUEST_REFUSED", answered);
  if (!/response_format|json_schema|json_object/.test(message)) return refused;
  return { ...refused, refusesFormat: true };
}

/** Returns the failure of a response of status 200 that is no chat completion. A page of HTML does not change by a retry; half a JSON does. */
export function failureOfBody({ source, body, retryDelayMs, hide }: ReceivedResponse, what: string): AttemptFailure {
  const isRetryable = !/^\s*</.test(body);
  const message = `${source} answered with ${what}: ${quote(hide(body))}`;
  return failure("ENDPOINT_RESPONSE_INVALID", message, { isRetryable, retryDelayMs });
}

function failure(
  code: ErrorCode,
  message: string,
  { isRetryable, retryDelayMs }: { isRetryable: boolean; retryDelayMs: number | undefined },
): AttemptFailure {
  const delay = retryDelayMs === undefined ? {} : { retryDelayMs };
  return { error: new MrlmError(code, message, { isRetryable, ...delay }), isRetryable, ...delay };
}

/** Returns the status of an error that a server reports in a response of status 200; undefined if the body is no error. */
export function statusOfErrorBody(parsed: unknown): number | undefined {
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const { error, choices } = parsed as { error?: unknown; choices?: unknown };
  if (error === undefined || error === null || choices !== undefined) return undefined;
  const code = Number((error as { code?: unknown }).code ?? (error as { status?: unknown }).status);
  return code >= 400 && code <= 599 ? code : 502;
}

/** Returns the wait that the headers of a response ask for. */
export function retryDelayOf(headers: { get(name: string): string | null }): number | undefined {
  const ms = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = Number(text);
  const delay = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000;
  return Number.isFinite(delay) ? Math.max(0, delay) : undefined;
}

interface ErrorBody {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

function readErrorBody(body: string): ErrorBody {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  try {
    const parsed = parseJson(body) as Record<string, unknown>;
    const error = (
      typeof parsed["error"] === "object" && parsed["error"] !== null ? parsed["error"] : parsed
    ) as Record<string, unknown>;
    const message = text(error["message"]) || text(parsed["error"]) || text(parsed["detail"]) || body;
    return { code: text(error["code"]), type: text(error["type"]), message };
  } catch {
    return { code: "", type: "", message: body };
  }
}

/** Returns the begin of a text in one line. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return JSON.stringify(line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}...` : line);
}

import { type Logger, MrlmError } from "@mrlm/spec";
import type { Dispatcher } from "undici";
import type { Budget } from "./budget.ts";
import type { ChatAnswer } from "./chat-answer.ts";
import type { ChatBody } from "./chat-messages.ts";
import type { AttemptFailure, AttemptOutcome } from "./endpoint-error.ts";
import { exchange } from "./exchange.ts";
import type { Secrets } from "./secrets.ts";
import { inWords } from "./structured-output.ts";

export interface EndpointOptions {
  readonly model: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly secrets: Secrets;
  readonly dispatcher: Dispatcher;
  readonly budget: Budget;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly isStreamed: boolean;
  /** Default: by the address. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | undefined;
  readonly logger: Logger;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Time for all attempts. */
  readonly limitMs: number;
  /** Called before each HTTP request. */
  readonly onAttempt: () => void;
}

/** Longest wait for which an endpoint may ask. */
const MAX_RETRY_DELAY_MS = 60_000;
/** Time after an outage in which a model is asked after the others. */
const REST_MS = 30_000;
/** Failures that concern the model, whatever is asked. */
const OUTAGES = [
  "ENDPOINT_FAILED",
  "ENDPOINT_KEY_INVALID",
  "ENDPOINT_MODEL_NOT_FOUND",
  "ENDPOINT_RATE_LIMITED",
  "ENDPOINT_RESPONSE_INVALID",
  "ENDPOINT_TIMEOUT",
  "ENDPOINT_UNREACHABLE",
] as const;
/** Headers of the openai package that are sent. Others could come from its environment variables, meant for another endpoint. */
const SENT_HEADERS = ["accept", "content-type", "user-agent"];

/** One model of one endpoint. The openai package decides when a failed attempt is repeated; each attempt is classified before. */
export class Endpoint {
  readonly model: string;
  readonly #options: EndpointOptions;
  #restUntil = 0;
  /** Whether the endpoint has refused `response_format`: forms of outputs are then stated in words. */
  #refusesFormat = false;

  constructor(options: EndpointOptions) {
    this.model = options.model;
    this.#options = options;
  }

  /** Model and address, for messages. */
  get source(): string {
    return `The model ${this.model} at ${this.#options.baseUrl}`;
  }

  /** Whether the model failed a short time ago, so that others are asked before it. */
  isResting(now: number): boolean {
    return now < this.#restUntil;
  }

  /**
   * Asks the model, with retries, for at most `limitMs`.
   * @throws ENDPOINT_*; rejects with the reason of the signal
   */
  async ask(body: ChatBody, options: AskOptions): Promise<ChatAnswer> {
    try {
      const answer = await this.#ask(body, options);
      this.#restUntil = 0;
      return answer;
    } catch (error) {
      // The reason of the caller is no outage, whatever its code is.
      options.signal.throwIfAborted();
      if (MrlmError.hasCode(error, ...OUTAGES)) this.#restUntil = performance.now() + (error.retryDelayMs ?? REST_MS);
      throw error;
    }
  }

  async #ask(given: ChatBody, { signal, limitMs, onAttempt }: AskOptions): Promise<ChatAnswer> {
    const { timeoutMs, maxRetries } = this.#options;
    const body = this.#refusesFormat ? inWords(given) : given;
    const end = performance.now() + limitMs;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = Number.isFinite(limitMs) ? setTimeout(() => stop.abort(), limitMs) : undefined;
    let last: AttemptFailure | undefined;
    let answer: ChatAnswer | undefined;
    const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
      this.#takeRequest(stop);
      onAttempt();
      const outcome = await this.#attempt(String(url), init, stop);
      if ("answer" in outcome) {
        answer = outcome.answer;
        return Response.json(answer);
      }
      last = outcome;
      return failedResponse(outcome, end - performance.now());
    };
    try {
      signal.throwIfAborted();
      const { openaiClient } = await import("./openai-client.ts"); // takes 0.2 s, of processes that ask a model alone
      const client = openaiClient(this.#options.baseUrl, fetch as typeof globalThis.fetch);
      await client.chat.completions.create(
        { ...this.#withOwnFields(body), model: this.model, stream: false },
        { signal: stop.signal, timeout: Math.max(1, Math.ceil(Math.min(timeoutMs, limitMs))), maxRetries },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (MrlmError.isInstance(stop.signal.reason)) throw stop.signal.reason;
      if (stop.signal.aborted) throw this.#late(limitMs, last);
      if (last?.refusesFormat === true && body.response_format !== undefined) {
        this.#warnOfFormat(last.error);
        return await this.#ask(given, { signal, limitMs: end - performance.now(), onAttempt });
      }
      throw last?.error ?? error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
    return answer as ChatAnswer;
  }

  /** Models of OpenAI refuse `max_tokens`, some other servers know nothing else. */
  #withOwnFields(body: ChatBody): ChatBody {
    const { baseUrl, maxTokensField } = this.#options;
    const isRenamed =
      maxTokensField === undefined
        ? new URL(baseUrl).hostname === "api.openai.com"
        : maxTokensField === "max_completion_tokens";
    const { max_tokens, ...rest } = body;
    return isRenamed && typeof max_tokens === "number" ? { ...rest, max_completion_tokens: max_tokens } : body;
  }

  /** Ends all attempts where the budget is spent. */
  #takeRequest(stop: AbortController): void {
    try {
      this.#options.budget.takeRequest();
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  async #attempt(url: string, init: RequestInit, stop: AbortController): Promise<AttemptOutcome> {
    const { key, secrets, dispatcher, isStreamed, timeoutMs } = this.#options;
    const given = new Headers(init.headers);
    const headers = Object.fromEntries(
      SENT_HEADERS.flatMap((name) => (given.has(name) ? [[name, given.get(name)!]] : [])),
    );
    const attempt = init.signal as AbortSignal;
    try {
      return await exchange({
        source: this.source,
        url,
        headers: key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` },
        body: isStreamed ? streamed(init.body as string) : (init.body as string),
        signal: attempt,
        dispatcher,
        secrets,
      });
    } catch (error) {
      if (stop.signal.aborted || !attempt.aborted) throw error;
      const message = `${this.source} did not answer within ${timeoutMs} ms`;
      return { error: new MrlmError("ENDPOINT_TIMEOUT", message), isRetryable: true };
    }
  }

  /** Remembers that the endpoint has no structured output, and reports it once. */
  #warnOfFormat({ message }: MrlmError): void {
    if (!this.#refusesFormat)
      this.#options.logger.warn(
        `${this.source} has no structured output of the requested kind. From now on the form of an answer is stated in words, as with the option \`json: text\` of the endpoint.`,
        { answer: message },
      );
    this.#refusesFormat = true;
  }

  #late(limitMs: number, last: AttemptFailure | undefined): MrlmError {
    const earlier = last === undefined ? "" : `. The last attempt before: ${last.error.message}`;
    const message = `${this.source} did not answer in the ${Math.round(limitMs)} ms that were left for it${earlier}`;
    return new MrlmError("ENDPOINT_TIMEOUT", message);
  }
}

/** Response that makes the openai package repeat the request, or fail. A wait that is too long for the rest of the time is not begun. */
function failedResponse({ isRetryable, retryDelayMs }: AttemptFailure, restMs: number): Response {
  const canWait = retryDelayMs === undefined || retryDelayMs <= Math.min(restMs, MAX_RETRY_DELAY_MS);
  const headers = new Headers({ "x-should-retry": String(isRetryable && canWait) });
  if (retryDelayMs !== undefined) headers.set("retry-after-ms", String(retryDelayMs));
  return new Response("{}", { status: 503, headers });
}

function streamed(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), stream: true, stream_options: { include_usage: true } });
}

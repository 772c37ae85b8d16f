import { Places } from "@mrlm/kit";
import { Recordings, silentLogger } from "@mrlm/kit/service";
import { defined, type Determinism, type Logger, MrlmError } from "@mrlm/spec";
import { Agent } from "undici";
import { Budget } from "./budget.ts";
import { type ChatAnswer, readAnswer, readUsage } from "./chat-answer.ts";
import { type ChatBody, chatMessages, chatTools } from "./chat-messages.ts";
import { ClientStats } from "./client-stats.ts";
import { CompletionCache, type RecordedAnswer, requestKey } from "./completion-cache.ts";
import { Endpoint } from "./endpoint.ts";
import type {
  Completion,
  CompletionOptions,
  CompletionRequest,
  JsonCompletion,
  JsonOutput,
  ModelClient,
  ModelClientStats,
} from "./model-client.ts";
import type { ModelClientOptions } from "./options.ts";
import { Secrets } from "./secrets.ts";
import { MAX_REPAIRS, readOutput, repairMessages, responseFormat, withForm } from "./structured-output.ts";
import { TimeLimit } from "./time-limit.ts";

/** Parts of the process that a client uses. */
export interface ModelClientSystem {
  /** Environment variables with the keys. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Returns the absolute path of a file that an option names, as a plugin's context does. Default: relative to the current folder. */
  readonly dataPath?: (path: string) => string;
  /** Receives a warning for an endpoint that has no structured output. Default: none. */
  readonly logger?: Logger;
}

/**
 * Creates a client. Sends nothing.
 * @throws ENDPOINT_KEY_MISSING, ENDPOINT_KEY_INVALID, DATA_INVALID
 */
export function createModelClient(options: ModelClientOptions, system: ModelClientSystem = {}): ModelClient {
  return new HttpModelClient(options, system);
}

/** Model of the options, with what it takes from the client. */
interface ModelEntry {
  readonly model: string;
  readonly baseUrl: string;
  readonly keyEnv: string | undefined;
}

/** Times and number of requests of one call. */
interface CallRecord {
  queueMs: number;
  modelMs: number;
  attempts: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

class HttpModelClient implements ModelClient {
  readonly determinism: Determinism;
  readonly #options: ModelClientOptions;
  readonly #models: readonly ModelEntry[];
  readonly #endpoints: readonly Endpoint[];
  readonly #agent: Agent;
  readonly #places: Places;
  readonly #budget: Budget;
  readonly #secrets: Secrets;
  readonly #stats = new ClientStats();
  readonly #cache: CompletionCache | undefined;
  readonly #recordings: Recordings<RecordedAnswer> | undefined;

  constructor(
    options: ModelClientOptions,
    { env = process.env, dataPath = (path) => path, logger = silentLogger }: ModelClientSystem,
  ) {
    const { cache, concurrency, connections = concurrency, timeout_ms } = options;
    this.#options = options;
    this.#models = modelsOf(options);
    this.#budget = new Budget(options);
    this.#places = new Places(concurrency);
    this.determinism = cache === undefined || cache.mode === "record" ? "none" : "replayable";
    // Without requests no key is needed.
    const names = cache?.mode === "replay-or-fail" ? [] : this.#models.flatMap(({ keyEnv }) => keyEnv ?? []);
    const secrets = new Secrets(names, env);
    this.#secrets = secrets;
    if (cache !== undefined) {
      this.#cache = new CompletionCache(dataPath(cache.file), cache.mode);
      this.#recordings = new Recordings(cache.mode, this.#cache);
    }
    // The timeout of an attempt is that of the openai package; the dispatcher has none for headers and body.
    this.#agent = new Agent({
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeout_ms) },
    });
    this.#endpoints = this.#models.map(
      ({ model, baseUrl, keyEnv }) =>
        new Endpoint({
          model,
          baseUrl,
          key: keyEnv === undefined ? undefined : secrets.key(keyEnv),
          secrets,
          dispatcher: this.#agent,
          budget: this.#budget,
          timeoutMs: timeout_ms,
          maxRetries: options.max_retries,
          maxTokensField: options.max_tokens_field,
          isStreamed: options.stream,
          logger,
        }),
    );
  }

  async complete(request: CompletionRequest, options: CompletionOptions): Promise<Completion> {
    return await this.#answer(request, {}, options);
  }

  async completeJson<T>(
    request: CompletionRequest,
    output: JsonOutput<T>,
    options: CompletionOptions,
  ): Promise<JsonCompletion<T>> {
    const { json } = this.#options;
    const time = new TimeLimit(options);
    const messages = withForm(request.messages, output, json);
    const format = responseFormat(output, json);
    let asked = messages;
    for (let repairs = 0; ; repairs++) {
      const completion = await this.#answer({ ...request, messages: asked }, format, time.rest());
      const read = this.#counted(() => {
        const result = readOutput(completion, output, (text) => this.#secrets.hide(text));
        if ("error" in result && repairs === MAX_REPAIRS) throw result.error;
        return result;
      });
      if ("value" in read) return { value: read.value, completion, isRepaired: repairs > 0 };
      this.#stats.addRepair();
      asked = repairMessages(messages, completion.text, read.fault);
    }
  }

  stats(): ModelClientStats {
    const { requests, inputTokens, outputTokens, cost } = this.#budget;
    return { ...this.#stats.read(), requests, inputTokens, outputTokens, cost };
  }

  async close(): Promise<void> {
    if (this.#agent.destroyed) return;
    await this.#agent.destroy();
    this.#cache?.close();
  }

  /** Counts an error by its code. */
  #counted<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#stats.addFailure(error);
      throw error;
    }
  }

  async #answer(
    request: CompletionRequest,
    format: Pick<ChatBody, "response_format">,
    options: CompletionOptions,
  ): Promise<Completion> {
    const body = this.#body(request, format);
    const record: CallRecord = { queueMs: 0, modelMs: 0, attempts: 0 };
    try {
      const recorded = await this.#recorded(request, body, options, record);
      const usage = readUsage(recorded.answer, Buffer.byteLength(JSON.stringify(body)));
      const { refusal, ...read } = readAnswer(recorded.answer);
      const completion: Completion = {
        ...read,
        // The text of a refusal is that of an error.
        ...(refusal === undefined ? {} : { refusal: this.#secrets.hide(refusal) }),
        model: recorded.model,
        usage: { ...usage, cost: this.#budget.price(recorded.model, usage) },
        timing: { ...record, isReplayed: record.attempts === 0 },
      };
      this.#stats.addAnswer(completion, { isFailover: recorded.model !== this.#models[0]?.model });
      return completion;
    } catch (error) {
      this.#stats.addFailure(error);
      throw error;
    } finally {
      this.#stats.addTimes(record);
    }
  }

  async #recorded(
    request: CompletionRequest,
    body: ChatBody,
    options: CompletionOptions,
    record: CallRecord,
  ): Promise<RecordedAnswer> {
    const send = async (): Promise<RecordedAnswer> => await this.#send(body, options, record);
    if (this.#recordings === undefined) return await send();
    const models = this.#models.map(({ model, baseUrl }) => ({ model, baseUrl }));
    const key = requestKey({ models, body, variant: request.variant ?? 0 });
    const missing = (): MrlmError =>
      new MrlmError(
        "ENDPOINT_RECORDING_MISSING",
        `The file ${this.#options.cache?.file} has no recorded answer of the model ${models[0]?.model} to this request (key ${key}).`,
      );
    return await this.#recordings.answer({ key, signal: options.signal, send, missing });
  }

  /** Waits for a place and asks the models in their order. Each gets an equal share of the time that is left. */
  async #send(
    body: ChatBody,
    { signal, deadlineMs = Number.POSITIVE_INFINITY, queued }: CompletionOptions,
    record: CallRecord,
  ): Promise<RecordedAnswer> {
    const began = performance.now();
    const take = async (): Promise<() => void> =>
      await this.#place(signal, queued === undefined ? deadlineMs : undefined);
    const giveBack = await (queued === undefined ? take() : queued(take)).finally(() => {
      record.queueMs = performance.now() - began;
    });
    const start = performance.now();
    const end = (queued === undefined ? began : start) + deadlineMs;
    try {
      return await this.#failOver(body, signal, end, record);
    } finally {
      giveBack();
      record.modelMs = performance.now() - start;
    }
  }

  async #failOver(body: ChatBody, signal: AbortSignal, end: number, record: CallRecord): Promise<RecordedAnswer> {
    const onAttempt = (): void => void record.attempts++;
    const failures: MrlmError[] = [];
    const now = performance.now();
    const order = this.#endpoints.toSorted((one, other) => Number(one.isResting(now)) - Number(other.isResting(now)));
    for (const [index, endpoint] of order.entries()) {
      const limitMs = (end - performance.now()) / (order.length - index);
      if (limitMs <= 0) break;
      try {
        const answer = await endpoint.ask(body, { signal, limitMs, onAttempt });
        this.#count(endpoint.model, body, answer);
        return { model: endpoint.model, answer };
      } catch (error) {
        signal.throwIfAborted();
        if (!MrlmError.isInstance(error) || error.code === "ENDPOINT_BUDGET_SPENT") throw error;
        failures.push(error);
      }
    }
    throw failureOfAll(failures);
  }

  #count(model: string, body: ChatBody, answer: ChatAnswer): void {
    this.#budget.add(model, readUsage(answer, Buffer.byteLength(JSON.stringify(body))));
  }

  async #place(signal: AbortSignal, deadlineMs: number | undefined): Promise<() => void> {
    if (deadlineMs === undefined || !Number.isFinite(deadlineMs)) return await this.#places.take(signal);
    const late = new AbortController();
    const timer = setTimeout(() => {
      const message = `The request waited ${Math.round(deadlineMs)} ms for one of ${this.#options.concurrency} places, and was not sent.`;
      late.abort(new MrlmError("ENDPOINT_TIMEOUT", message));
    }, deadlineMs);
    try {
      return await this.#places.take(AbortSignal.any([signal, late.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  #body(request: CompletionRequest, format: Pick<ChatBody, "response_format">): ChatBody {
    const { extra } = this.#options;
    const { messages, tools = [], maxTokens, temperature, topP, seed, stop } = request;
    return {
      ...extra,
      messages: chatMessages(messages),
      ...(tools.length === 0 ? {} : { tools: chatTools(tools) }),
      ...defined({ max_tokens: maxTokens, temperature, top_p: topP, seed }),
      ...(stop === undefined || stop.length === 0 ? {} : { stop: [...stop] }),
      ...format,
    };
  }
}

function modelsOf({ model, base_url, api_key_env }: ModelClientOptions): ModelEntry[] {
  return (typeof model === "string" ? [model] : model).map((entry) => {
    if (typeof entry === "string") return { model: entry, baseUrl: base_url, keyEnv: api_key_env };
    // The key of one endpoint is never sent to another.
    const isSame = entry.base_url === undefined || entry.base_url === base_url;
    return {
      model: entry.model,
      baseUrl: entry.base_url ?? base_url,
      keyEnv: entry.api_key_env ?? (isSame ? api_key_env : undefined),
    };
  });
}

/** Returns the last failure; where several models failed, with the failures of all. */
function failureOfAll(failures: readonly MrlmError[]): MrlmError {
  const last = failures.at(-1) ?? new MrlmError("ENDPOINT_TIMEOUT", "No time was left to send the request.");
  if (failures.length <= 1) return last;
  const list = failures.map(({ code, message }) => `${code}: ${message}`).join(" | ");
  return new MrlmError(last.code, `All ${failures.length} models failed. ${list}`, {
    hint: last.hint,
    isRetryable: failures.some(({ isRetryable }) => isRetryable),
  });
}

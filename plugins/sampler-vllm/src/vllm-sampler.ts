import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type {
  ExternalSampler,
  SampleOptions,
  Sampler,
  SampleRequest,
  SampleResult,
  SamplerInfo,
  UpdateResult,
  WeightsUpdate,
} from "@mrlm/spec/host";
import { type Generated, generateBody, readGenerated, UnknownWeights } from "./generate.ts";
import type { VllmHttp } from "./http.ts";
import { StallWatch } from "./stall-watch.ts";
import type { VllmServer } from "./vllm-server.ts";
import { checkDirectory, tokenizerFiles } from "./weights-directory.ts";

/** Pause between attempts to abort a request that the server may not have begun, in milliseconds. */
const ABORT_MS = 100;

/** Weights that the server was given. */
interface Held {
  readonly model: ModelId;
  readonly version: number;
  readonly checksum: string;
  readonly directory: string;
}

/** Server and limits of a sampler. */
interface About {
  readonly version: string;
  /** Longest sequence in tokens. */
  readonly maxTokens: number;
  readonly sequenceMs: number;
  readonly stallMs: number;
  readonly sleeps: boolean;
}

/** Sampler of one vLLM server, which holds one model. Nothing else may use the server. */
export class VllmSampler implements ExternalSampler {
  readonly #http: VllmHttp;
  readonly #server: VllmServer;
  readonly #about: About;
  readonly #stalls: StallWatch;
  /** Part of the names of weights, by which those of a restarted server are distinguished from ours. */
  #instance = randomUUID();
  readonly #versions = new Map<string, number>();
  #held: Held | undefined;
  /** Change of the server during which sequences wait: an update, a sleep, or its end. */
  #updating: Promise<unknown> | undefined;
  #isAsleep = false;
  readonly #running = new Set<{ readonly prompt: Int32Array }>();
  #computeMs = 0;
  #since = 0;

  constructor({ http, server }: { readonly http: VllmHttp; readonly server: VllmServer }, about: About) {
    this.#http = http;
    this.#server = server;
    this.#about = about;
    this.#stalls = new StallWatch({
      url: http.url,
      limitMs: about.stallMs,
      countTokens: (timeoutMs) => server.countTokens(timeoutMs),
      isUpdating: () => this.#updating !== undefined,
      // It samples again when it has read and proved weights.
      onStall: () => this.#lose(),
    });
  }

  async describe(): Promise<SamplerInfo> {
    const weights = await this.#server.weights();
    if (this.#held !== undefined && this.#updating === undefined && weights !== this.#nameOf(this.#held.version))
      this.#lose();
    const held = this.#held;
    return {
      instanceId: this.#instance,
      device: "vllm",
      deviceName: `vLLM at ${this.#http.url}`,
      software: { vllm: this.#about.version },
      threads: 0,
      models: held === undefined ? [] : [{ model: held.model, version: held.version, checksum: held.checksum }],
      capabilities: {
        deterministic: false,
        logprobs: "drawn",
        updates: ["directory"],
        inFlight: ["recompute", "keep", "wait"],
        proof: "probe",
        sleeps: this.#about.sleeps,
      },
      runningTokens: [...this.#running].reduce((sum, { prompt }) => sum + prompt.length, 0),
      computeSeconds: (this.#computeMs + (this.#running.size > 0 ? performance.now() - this.#since : 0)) / 1000,
    };
  }

  async readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    return await tokenizerFiles(this.#heldOf(model).directory);
  }

  async sampler(model: ModelId): Promise<Sampler> {
    this.#heldOf(model);
    const closing = new AbortController();
    return {
      sample: (request, options) => this.#sample(model, request, options ?? {}, closing.signal),
      barrier: () => undefined,
      close: async () => closing.abort(),
    };
  }

  async update(update: WeightsUpdate): Promise<UpdateResult> {
    while (this.#updating !== undefined) await this.#updating;
    const started = performance.now();
    const { model, version, checksum, source, inFlight } = update;
    if (source.kind !== "directory")
      throw new MrlmError("OPTIONS_INVALID", "vLLM reads weights from a directory, and not from a trainer.");
    if (this.#held !== undefined && this.#held.model !== model)
      throw new MrlmError("OPTIONS_INVALID", `vLLM holds "${this.#held.model}", and a server holds one model.`);
    await checkDirectory(source.directory);
    await this.#alone(() => this.#change({ model, version, checksum, directory: source.directory }, inFlight));
    return { version, checksum: "", seconds: (performance.now() - started) / 1000 };
  }

  async sleep(): Promise<void> {
    while (this.#updating !== undefined) await this.#updating;
    if (!this.#about.sleeps || this.#isAsleep || this.#held === undefined || this.#running.size > 0) return;
    await this.#alone(async () => {
      this.#isAsleep = true;
      await this.#server.sleep();
    });
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  /** Changes the server while sequences wait. After a failure its weights are unknown: it samples nothing until the next update. */
  async #alone(change: () => Promise<void>): Promise<void> {
    const changing = change();
    this.#updating = changing.catch(() => this.#lose()).finally(() => (this.#updating = undefined));
    await changing;
  }

  /** Takes the memory of the whole server again, before a sequence. */
  async #wake(): Promise<void> {
    while (this.#updating !== undefined) await this.#updating;
    if (!this.#isAsleep) return;
    await this.#alone(async () => {
      await this.#server.wake();
      this.#isAsleep = false;
    });
  }

  /** Changes the weights. A sleeping server takes the memory of its cache again when it has them: the trainer's buffers are gone then. */
  async #change(next: Held, inFlight: WeightsUpdate["inFlight"]): Promise<void> {
    const name = this.#nameOf(next.version);
    // A process before this one may have left it asleep.
    const isAsleep = this.#about.sleeps && (await this.#server.isAsleep());
    if (isAsleep) await this.#server.wake("weights");
    await this.#server.pause(inFlight);
    try {
      await this.#server.reload(next.directory);
      if (isAsleep) await this.#server.wake("kv_cache");
      this.#isAsleep = false;
      await this.#server.emptyCache(this.#running.size > 0);
      await this.#server.setWeights(name);
      // Sequences that wait at the server are answered after this.
      this.#versions.set(name, next.version);
      this.#held = next;
      await this.#server.resume();
    } catch (error) {
      await this.#server.resume().catch(() => undefined);
      throw error;
    }
  }

  async #sample(
    model: ModelId,
    request: SampleRequest,
    { signal, onTokens }: SampleOptions,
    closing: AbortSignal,
  ): Promise<SampleResult> {
    const { prompt, params } = request;
    const { topP = 1, topK = 0, minTokens = 0 } = params;
    const room = this.#about.maxTokens - prompt.length;
    if (minTokens > 0 && params.stopTokenIds.length > 0)
      throw new MrlmError(
        "OPTIONS_INVALID",
        "vLLM does not sample with `min_tokens`: its log-probabilities are then wrong by up to 2e-3.",
      );
    if (prompt.length === 0 || room < 1)
      throw new MrlmError(
        "SEQUENCE_TOO_LONG",
        `A prompt has ${prompt.length} tokens, where vLLM takes 1 to ${this.#about.maxTokens - 1}.`,
      );
    const sequence: Sequence = { tokens: [], logprobs: [], versions: [] };
    const stop = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const result = (stopReason: SampleResult["stopReason"]): SampleResult => ({
      tokens: Int32Array.from(sequence.tokens),
      logprobs: Float32Array.from(sequence.logprobs),
      versions: Int32Array.from(sequence.versions),
      stopReason,
      truncatedSupport: topK > 0 || (topP > 0 && topP < 1),
    });
    const limit = Math.min(params.maxTokens, room);
    const end = this.#begin({ prompt });
    try {
      for (;;) {
        await this.#wake();
        if (stop.aborted) return result("cancelled");
        const before = this.#heldOf(model);
        const part = await this.#request(request, sequence.tokens, { limit, stop });
        const chunk = { ...part, versions: part.weights.map((name) => this.#versions.get(name) as number) };
        sequence.tokens.push(...part.tokens);
        sequence.logprobs.push(...part.logprobs);
        sequence.versions.push(...chunk.versions);
        if (part.tokens.length > 0)
          onTokens?.({
            tokens: Int32Array.from(part.tokens),
            logprobs: Float32Array.from(part.logprobs),
            versions: Int32Array.from(chunk.versions),
          });
        if (stop.aborted && part.reason === "abort") return result("cancelled");
        if (part.reason !== "abort") return result(part.reason);
        // An update aborted it: the rest is sampled from the new weights.
        await this.#updating;
        if (sequence.tokens.length === limit) return result("length");
        if (this.#heldOf(model) === before)
          throw new MrlmError(
            "SAMPLER_UNAVAILABLE",
            `vLLM at ${this.#http.url} aborted a request without a cancellation or an update.`,
          );
      }
    } finally {
      end();
    }
  }

  async #request(
    request: SampleRequest,
    sampled: readonly number[],
    { limit, stop }: { readonly limit: number; readonly stop: AbortSignal },
  ): Promise<Generated> {
    const id = randomUUID();
    const maxTokens = limit - sampled.length;
    const salt = this.#nameOf((this.#held as Held).version);
    const ended = new AbortController();
    const abort = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await this.#server.abort(id).catch(() => undefined);
        await delay(ABORT_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    };
    const onAbort = (): void => void abort();
    stop.addEventListener("abort", onAbort, { once: true });
    const { signal, end } = this.#stalls.begin();
    let isComplete = false;
    try {
      const body = generateBody(request, { id, sampled, maxTokens, salt });
      const answer = await this.#server.generate(body, { timeoutMs: this.#about.sequenceMs, signal });
      const part = readGenerated(answer, request, { maxTokens, isKnown: (name) => this.#versions.has(name) });
      isComplete = part.reason !== "abort";
      return part;
    } catch (error) {
      if (!(error instanceof UnknownWeights)) throw error;
      throw await this.#unknown(error);
    } finally {
      end(isComplete);
      stop.removeEventListener("abort", onAbort);
      ended.abort();
    }
  }

  /** Returns the error for tokens of unknown weights: the server was started again, or its answer is wrong. */
  async #unknown({ weights, message }: UnknownWeights): Promise<MrlmError> {
    const now = await this.#server.weights().catch(() => weights);
    if (this.#versions.has(now)) return new MrlmError("SAMPLER_INVALID", `An answer of vLLM is refused: ${message}.`);
    this.#lose();
    return new MrlmError("SAMPLER_UNAVAILABLE", `vLLM at ${this.#http.url} was started again: ${message}.`);
  }

  /** Forgets weights that the server has lost. */
  #lose(): void {
    this.#held = undefined;
    this.#isAsleep = false;
    this.#versions.clear();
    this.#instance = randomUUID();
  }

  #nameOf(version: number): string {
    return `${this.#instance}:${version}`;
  }

  #begin(request: { readonly prompt: Int32Array }): () => void {
    if (this.#running.size === 0) this.#since = performance.now();
    this.#running.add(request);
    return () => {
      this.#running.delete(request);
      if (this.#running.size === 0) this.#computeMs += performance.now() - this.#since;
    };
  }

  #heldOf(model: ModelId): Held {
    if (this.#held?.model === model) return this.#held;
    throw new MrlmError("MODEL_NOT_FOUND", `vLLM at ${this.#http.url} has no weights of "${model}".`, {
      hint: "Update the sampler first.",
    });
  }
}

interface Sequence {
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly versions: number[];
}

import { MrlmError } from "@mrlm/spec";
import type { InFlight } from "@mrlm/spec/host";
import { z } from "zod";
import { readJson, refused, type VllmHttp } from "./http.ts";

/** Longest time of a short call, in milliseconds. */
const CALL_MS = 30_000;
/** Pauses of the server by our rule for running sequences. */
const PAUSES = { recompute: "abort", keep: "keep", wait: "wait" } as const;

/** Lines of `/metrics` with the number of drawn tokens, one for each engine of the server. */
const GENERATED = /^vllm:generation_tokens_total(?:\{.*\})? (\S+)$/gm;

const succeeded = z.object({ success: z.literal(true) });

/** Calls of a vLLM server other than those that sample. */
export class VllmServer {
  readonly #http: VllmHttp;
  readonly #updateMs: number;

  constructor(http: VllmHttp, updateMs: number) {
    this.#http = http;
    this.#updateMs = updateMs;
  }

  /** Name of the weights, which `setWeights` gave them; another one after a restart. */
  async weights(): Promise<string> {
    const answer = await this.#http.json("GET", "/weight_info", undefined, CALL_MS);
    return String(
      this.#read(z.object({ weight_version: z.string().nullable() }), answer, "/weight_info").weight_version,
    );
  }

  async version(): Promise<string> {
    const answer = await this.#http.json("GET", "/version", undefined, CALL_MS);
    return this.#read(z.object({ version: z.string() }), answer, "/version").version;
  }

  /** Longest sequence in tokens. */
  async maxTokens(): Promise<number> {
    const answer = await this.#http.json("GET", "/v1/models", undefined, CALL_MS);
    const models = z.object({ data: z.array(z.object({ max_model_len: z.int().positive() })).min(1) });
    return (this.#read(models, answer, "/v1/models").data[0] as { max_model_len: number }).max_model_len;
  }

  /**
   * Checks that log-probabilities are those of the distribution that tokens are drawn from: with `top_k` of 1 each is 0.
   * Rejects with SAMPLER_INVALID for a server without `--logprobs-mode processed_logprobs`.
   */
  async checkLogprobs(): Promise<void> {
    const sampling_params = { max_tokens: 1, temperature: 0.7, top_k: 1, logprobs: 0, ignore_eos: true };
    const path = "/inference/v1/generate";
    const answer = await this.#http.json("POST", path, { token_ids: [0, 1], sampling_params }, this.#updateMs);
    const schema = z.object({
      choices: z.array(
        z.object({ logprobs: z.object({ content: z.array(z.object({ logprob: z.number() })).length(1) }) }),
      ),
    });
    const [choice] = this.#read(schema, answer, path).choices;
    const logprob = choice?.logprobs.content[0]?.logprob ?? Number.NaN;
    if (!(Math.abs(logprob) < 1e-6))
      throw new MrlmError(
        "SAMPLER_INVALID",
        `vLLM at ${this.#http.url} returns log-probabilities of another distribution than the one it draws from: ${logprob} for a certain token.`,
        { hint: "Start it with `--logprobs-mode processed_logprobs`." },
      );
  }

  /** Number of tokens drawn since the start of the server. Rejects with SAMPLER_INVALID for a server that does not count them. */
  async countTokens(timeoutMs = CALL_MS): Promise<number> {
    const path = "/metrics";
    const answer = await this.#http.call("GET", path, undefined, { timeoutMs });
    if (answer.status !== 200) throw refused(this.#http.url, path, answer);
    const counts = Array.from(answer.text.matchAll(GENERATED), ([, count]) => Number(count));
    if (counts.length === 0)
      throw new MrlmError("SAMPLER_INVALID", `${path} of vLLM at ${this.#http.url} does not count the drawn tokens.`, {
        hint: "Start it without `--disable-log-stats`: a server that draws no tokens is found by their number.",
      });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async pause(inFlight: InFlight): Promise<void> {
    await this.#post(`/pause?mode=${PAUSES[inFlight]}`, undefined);
  }

  async resume(): Promise<void> {
    await this.#post("/resume", undefined);
  }

  /** Releases the memory of weights, which the host keeps, and of the cache. */
  async sleep(): Promise<void> {
    await this.#post("/sleep?level=1", undefined);
  }

  /** Whether the server sleeps, in part too, or is paused. */
  async isAsleep(): Promise<boolean> {
    const path = "/is_sleeping";
    const answer = await this.#http.json("GET", path, undefined, CALL_MS);
    return this.#read(z.object({ is_sleeping: z.boolean() }), answer, path).is_sleeping;
  }

  /** Takes memory again, and resumes with the last part of it. A part that the server has changes nothing. @param part default: all */
  async wake(part?: "weights" | "kv_cache"): Promise<void> {
    const path = part === undefined ? "/wake_up" : `/wake_up?tags=${part}`;
    const answer = await this.#http.call("POST", path, undefined, { timeoutMs: this.#updateMs });
    if (answer.status !== 200) throw refused(this.#http.url, path, answer);
    // Earlier versions state nothing. A probe proves the weights in any case.
    if (answer.text === "") return;
    const state = z.enum(part === "weights" ? ["awake", "sleeping"] : ["awake"]);
    this.#read(z.object({ status: state }), readJson(answer.text, path), path);
  }

  async reload(directory: string): Promise<void> {
    const path = "/collective_rpc";
    const answer = await this.#post(path, { method: "reload_weights", kwargs: { weights_path: directory } });
    this.#read(z.object({ results: z.array(z.null()).min(1) }), answer, path);
  }

  /** Empties the prefix cache. @param runs whether sequences run, whose blocks the server keeps: those have another salt than later ones */
  async emptyCache(runs: boolean): Promise<void> {
    const answer = await this.#post("/reset_prefix_cache", undefined);
    this.#read(runs ? z.object({ success: z.boolean() }) : succeeded, answer, "/reset_prefix_cache");
  }

  async setWeights(name: string): Promise<void> {
    const path = "/update_weight_version";
    this.#read(succeeded, await this.#post(path, { new_version: name }), path);
  }

  async abort(id: string): Promise<void> {
    // The bare id is accepted and aborts nothing.
    await this.#http.json("POST", "/abort_requests", { request_ids: [`generate-tokens-${id}`] }, CALL_MS);
  }

  /** Samples. @returns `undefined` for a request that the server refuses */
  async generate(body: object, limits: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<unknown> {
    const path = "/inference/v1/generate";
    const answer = await this.#http.call("POST", path, body, limits);
    if (answer.status === 400)
      throw new MrlmError("OPTIONS_INVALID", `vLLM refuses a request: ${answer.text.slice(0, 300)}`);
    if (answer.status !== 200) throw refused(this.#http.url, path, answer);
    return readJson(answer.text, path);
  }

  #post(path: string, body: unknown): Promise<unknown> {
    return this.#http.json("POST", path, body, this.#updateMs);
  }

  #read<T>(schema: z.ZodType<T>, answer: unknown, path: string): T {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new MrlmError(
      "SAMPLER_INVALID",
      `The answer of vLLM at ${this.#http.url} to ${path} is none: ${JSON.stringify(answer)?.slice(0, 200)}`,
    );
  }
}

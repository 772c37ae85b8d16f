import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { type Bigram, readBigram } from "./bigram-directory.ts";

/** Faults of a server. */
export type Fault =
  /** The head keeps the old weights, as a packed copy of a tied one does. */
  | "reload ignored"
  /** Blocks of the prefix cache outlive an update and their salt. */
  | "prefix cache kept"
  | "log-probabilities wrong"
  | "raw log-probabilities"
  | "version wrong"
  | "log-probability missing"
  | "token beyond the stop"
  | "no JSON"
  | "cut"
  | "silent"
  /** Draws three tokens of each sequence, and then none. */
  | "stalled"
  | "slow"
  | "reload fails"
  /** Takes the weights of before its sleep when it wakes, as a copy on the host that an update did not reach. */
  | "update lost in sleep";

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly answer: unknown;
}

interface GenerateBody {
  readonly request_id?: string;
  readonly token_ids: readonly number[];
  readonly sampling_params: {
    readonly max_tokens: number;
    readonly temperature: number;
    readonly top_k?: number;
    readonly seed?: number;
    readonly stop_token_ids?: readonly number[];
  };
}

/** Answers of a real server: vLLM 0.32.0 on a CPU. */
export const recorded = JSON.parse(
  readFileSync(new URL("./recorded.json", import.meta.url), "utf8"),
) as readonly Exchange[];

/** Tokens of a block of the prefix cache. */
const BLOCK = 128;
/** Time for which a killed server is gone, in milliseconds. */
const GONE_MS = 60;
/** Time of a token of a slow server, in milliseconds. */
const SLOW_MS = 50;

/** vLLM server with a bigram model, which answers in the form of recorded answers. */
export class FakeVllm {
  fault: Fault | undefined;
  readonly requests: string[] = [];
  url = "";
  readonly #initial: Bigram;
  #weights: Bigram;
  #name = "default";
  /** Resolves at the end of a pause; `undefined` without one. */
  #pause: PromiseWithResolvers<void> | undefined;
  #mode = "";
  #drawn = 0;
  #held: { readonly name: string; readonly count: number } | undefined;
  /** Weights of the first block of each prompt. */
  #cache = new Map<string, Bigram>();
  /** Parts of the memory that the server has released. */
  readonly #asleep = new Set<string>();
  /** Copy on the host of the weights, while the server sleeps. */
  #copy: Bigram;
  #kill: { readonly path: string; readonly when: "before" | "after" } | undefined;
  #isGone = false;
  readonly #running = new Set<string>();
  readonly #aborted = new Set<string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(weights: Bigram) {
    this.#initial = weights;
    this.#weights = weights;
    this.#copy = weights;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Loses connections and weights, as a server does that is started again. */
  restart(): void {
    this.#asleep.clear();
    this.#weights = this.#initial;
    this.#name = "default";
    this.#cache.clear();
    this.#server.closeAllConnections();
  }

  /** Kills the server before or after it acts on the next request whose path begins so; it is gone for a while, and started again. */
  killAt(path: string, when: "before" | "after"): void {
    this.#kill = { path, when };
  }

  #die(): void {
    this.#kill = undefined;
    this.#isGone = true;
    this.#pause?.resolve();
    this.#pause = undefined;
    this.restart();
    setTimeout(() => (this.#isGone = false), GONE_MS);
  }

  /** Whether `/wake_up` answers without a body, as before vLLM 0.32. */
  isSilent = false;

  /** Whether the server has memory for sequences. */
  get isAwake(): boolean {
    return this.#asleep.size === 0;
  }

  /** Holds sequences at a number of tokens until the weights have another name, or they are aborted. */
  hold(count: number): void {
    this.#held = { name: this.#name, count };
  }

  /** Number of sequences that run. */
  get running(): number {
    return this.#running.size;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const path = request.url as string;
    if (this.#isGone) return void response.destroy();
    this.requests.push(path);
    const kill = this.#kill?.path === path ? this.#kill.when : undefined;
    if (kill === "before") return this.#die();
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (path === "/inference/v1/generate") {
      if (!this.isAwake) return send(response, 500, { error: "a sequence for a server that sleeps" });
      await this.#generate(body as never, response, kill === "after");
      return kill === "after" ? this.#die() : undefined;
    }
    if (path === "/metrics") {
      const { answer } = recorded.find((each) => each.path === path) as Exchange;
      return void response.end((answer as string).replace(/ \S+\n$/, ` ${this.#drawn}.0\n`));
    }
    if (path === "/is_sleeping" || path.startsWith("/sleep") || path.startsWith("/wake_up")) {
      if (path.startsWith("/sleep")) this.#sleep();
      if (path.startsWith("/wake_up")) this.#wake(path.split("tags=")[1]);
      if (kill === "after") return this.#die();
      // The forms of vLLM 0.32.0, which states a pause as sleep too.
      if (path.startsWith("/wake_up") && this.isSilent) return void response.end();
      const is_sleeping = !this.isAwake || this.#pause !== undefined;
      return send(response, 200, { is_sleeping, status: this.isAwake ? "awake" : "sleeping" });
    }
    const exchange = recorded.find((each) => each.path.split("?")[0] === path.split("?")[0]);
    if (exchange === undefined) return send(response, 404, {});
    let answer = exchange.answer;
    if (path.startsWith("/pause") && this.fault === "stalled") return;
    if (path.startsWith("/pause")) {
      this.#pause ??= Promise.withResolvers();
      this.#mode = path.split("=")[1] as string;
      while (this.#mode !== "keep" && this.#running.size > 0 && !response.destroyed) await turn();
    } else if (path === "/resume") {
      this.#pause?.resolve();
      this.#pause = undefined;
    } else if (path === "/collective_rpc") {
      if (this.fault === "reload fails" || this.#asleep.has("weights"))
        return send(response, 500, { error: "reload failed" });
      const { weights_path: directory } = body["kwargs"] as { readonly weights_path: string };
      if (this.fault !== "reload ignored") this.#weights = readBigram(directory);
    } else if (path === "/reset_prefix_cache") {
      if (this.fault !== "prefix cache kept") this.#cache.clear();
    } else if (path === "/update_weight_version") this.#name = body["new_version"] as string;
    else if (path === "/weight_info") answer = { weight_version: this.#name };
    else if (path === "/abort_requests")
      for (const id of body["request_ids"] as readonly string[]) this.#aborted.add(id.replace("generate-tokens-", ""));
    if (kill === "after") return this.#die();
    send(response, exchange.status, answer);
  }

  #sleep(): void {
    if (this.#running.size > 0) throw new Error("a server that draws sequences was put to sleep");
    this.#copy = this.#weights;
    for (const part of ["weights", "kv_cache"]) this.#asleep.add(part);
    if (this.fault !== "prefix cache kept") this.#cache.clear();
  }

  /** @param part default: all */
  #wake(part: string | undefined): void {
    for (const each of part === undefined ? ["weights", "kv_cache"] : [part]) this.#asleep.delete(each);
    if (!this.isAwake) return;
    if (this.fault === "update lost in sleep") this.#weights = this.#copy;
    this.#pause?.resolve();
    this.#pause = undefined;
  }

  async #generate(
    { request_id: id = "", token_ids: prompt, sampling_params: params }: GenerateBody,
    response: ServerResponse,
    isLost = false,
  ) {
    if (this.fault === "silent") return;
    const { fault } = this;
    while (this.#pause !== undefined) await this.#pause.promise;
    this.#running.add(id);
    response.on("close", () => this.#running.delete(id));
    const block = prompt.slice(0, BLOCK).join();
    const sampled: { readonly token: number; readonly logprob: number; readonly version: string }[] = [];
    let state = seedOf(params.seed ?? 0);
    let reason = "length";
    while (sampled.length < params.max_tokens) {
      await (fault === "slow" ? delay(SLOW_MS) : turn());
      if (response.destroyed || (fault === "stalled" && sampled.length === 3)) return;
      if (this.#aborted.delete(id) || (this.#pause !== undefined && this.#mode === "abort")) {
        reason = "abort";
        break;
      }
      if (this.#pause !== undefined && this.#mode === "keep") continue;
      if (sampled.length === this.#held?.count && this.#name === this.#held.name) continue;
      const weights = this.#cachedFor(block, prompt.length);
      const last = sampled.at(-1)?.token ?? (prompt.at(-1) as number);
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const drawn = draw(weights, last, params, state / 2 ** 32, this.fault === "raw log-probabilities");
      this.#drawn++;
      sampled.push({ ...drawn, version: this.fault === "version wrong" ? "other" : this.#name });
      if (params.stop_token_ids?.includes(drawn.token) && this.fault !== "token beyond the stop") {
        reason = "stop";
        break;
      }
    }
    this.#running.delete(id);
    if (!isLost) this.#send(response, sampled, reason);
  }

  #cachedFor(block: string, length: number): Bigram {
    if (length < BLOCK) return this.#weights;
    const found = this.#cache.get(block) ?? this.#weights;
    this.#cache.set(block, found);
    return this.fault === "prefix cache kept" ? found : this.#weights;
  }

  #send(
    response: ServerResponse,
    sampled: readonly { readonly token: number; readonly logprob: number; readonly version: string }[],
    finish_reason: string,
  ): void {
    const spans: { version: string; start: number; end: number }[] = [];
    for (const [i, { version }] of sampled.entries()) {
      const span = spans.at(-1);
      if (span?.version === version) span.end = i + 1;
      else spans.push({ version, start: i, end: i + 1 });
    }
    const wrong = this.fault === "log-probabilities wrong" ? -0.01 : 0;
    const content = sampled.map(({ token: token_id, logprob }) => ({ token_id, logprob: logprob + wrong }));
    if (this.fault === "log-probability missing") content.pop();
    const template = recorded.find(({ path }) => path === "/inference/v1/generate")?.answer as object;
    const token_ids = sampled.map(({ token }) => token);
    const choice = { index: 0, finish_reason, token_ids, weight_versions: spans, logprobs: { content } };
    const text = JSON.stringify({ ...template, choices: [choice] });
    if (this.fault === "cut") {
      response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
      response.write(text.slice(0, text.length / 2));
      setTimeout(() => response.destroy(), 5);
    } else if (this.fault === "no JSON") response.end(text.slice(0, text.length / 2));
    else send(response, 200, JSON.parse(text));
  }
}

function send(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

function seedOf(seed: number): number {
  return (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
}

/** Draws a token. Its log-probability is of the distribution that it is drawn from, and with `temperature` 0 that of temperature 1. */
function draw(
  { vocabSize, logits }: Bigram,
  last: number,
  { temperature, top_k = 0 }: GenerateBody["sampling_params"],
  uniform: number,
  isRaw: boolean,
): { token: number; logprob: number } {
  const scaled = Array.from(
    logits.subarray(last * vocabSize, (last + 1) * vocabSize),
    (logit) => logit / (temperature || 1),
  );
  const largest = Math.max(...scaled);
  const best = scaled.indexOf(largest);
  const logsum = largest + Math.log(scaled.reduce((sum, value) => sum + Math.exp(value - largest), 0));
  if (temperature === 0 || top_k === 1) return { token: best, logprob: top_k === 1 && !isRaw ? 0 : largest - logsum };
  let rest = uniform;
  let token = 0;
  while (token < vocabSize - 1 && (rest -= Math.exp((scaled[token] as number) - logsum)) > 0) token++;
  return { token, logprob: (scaled[token] as number) - logsum };
}

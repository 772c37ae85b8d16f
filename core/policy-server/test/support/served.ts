import { characterTokenizerFiles, type ChatRenderer, chatRenderer } from "@mrlm/kit/renderer";
import type { Engine, SampledChunk, SampleOptions, Sampler, SampleRequest } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { type PolicySource, servePolicies } from "../../src/index.ts";
import type { PolicyServer } from "../../src/serve-policies.ts";
import type { ServePoliciesOptions } from "../../src/serve-policies.ts";

/** Running server of a test. */
export interface Served {
  readonly server: PolicyServer;
  readonly url: string;
  readonly renderer: ChatRenderer;
  /** Sends a JSON body, and returns status, headers and JSON of the response. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

const TAGS = ["<tool_call>", "</tool_call>", "<answer>", "</answer>"];

/** Renderer of a tokenizer of bytes, with hermes calls. Without their tags its template shows no tools. */
export function testRenderer(tags: readonly string[] = TAGS): ChatRenderer {
  const ascii = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
  const tokenizerFiles = characterTokenizerFiles({
    alphabet: `${ascii}\néï日本語😀`,
    tags: [...tags],
  });
  return chatRenderer({ tokenizerFiles, eosTokenIds: [1] });
}

/** Serves a bigram model with the given policies beside it. */
export async function served(
  options: Partial<ServePoliciesOptions> & {
    readonly engine?: BigramEngine;
    readonly positions?: number;
    readonly tags?: readonly string[];
  } = {},
): Promise<Served> {
  const { engine = new BigramEngine({ deterministic: false }), positions = 4_096, tags, ...rest } = options;
  const renderer = testRenderer(tags);
  const config = { vocab_size: renderer.vocabSize, max_position_embeddings: positions, initializer_range: 1 };
  if (rest.policies === undefined)
    await engine.createModel({
      model: "policy",
      role: "policy",
      trainable: true,
      source: { kind: "random", config: { ...config, eos_token_id: 1 }, seed: 1, tokenizerFiles: {} },
    });
  const server = await servePolicies({
    policies: [{ id: "bigram", engine, model: "policy", renderer }],
    address: "127.0.0.1:0",
    ...rest,
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    server,
    url,
    renderer,
    async post(path, body, headers = {}) {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith("{") ? JSON.parse(text) : text,
      };
    },
    close: () => server.close(),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Returns a policy that writes a text, then its stop token, in chunks of `size` tokens with a pause after each.
 * @param text or a function of the prompt
 */
export function writing(
  id: string,
  text: string | ((prompt: string) => string),
  { size = 1, positions = 4_096, pause = turn } = {},
): PolicySource {
  const renderer = testRenderer();
  const sampler: Sampler = {
    async sample({ prompt, params: { maxTokens, stopTokenIds } }, { signal, onTokens } = {}) {
      const written = typeof text === "string" ? text : text(renderer.tokenizer.decodeText(prompt));
      const tokens = [...renderer.tokenizer.encode(written), 1];
      const isAborted = (): boolean => signal?.aborted === true;
      const whole = tokens.slice(0, maxTokens);
      const sent: SampledChunk[] = [];
      for (let i = 0; i < whole.length && !isAborted(); i += size) {
        const chunk = chunkOf(whole.slice(i, i + size), i);
        sent.push(chunk);
        onTokens?.(chunk);
        await pause();
      }
      const all = sent.flatMap((chunk) => [...chunk.tokens]);
      const isStopped = stopTokenIds.includes(all.at(-1) ?? -1);
      const stopReason = isStopped ? "stop" : isAborted() ? "cancelled" : "length";
      return { ...chunkOf(all, 0), stopReason, truncatedSupport: false };
    },
    barrier: () => undefined,
    close: async () => undefined,
  };
  const engine: Pick<Engine, "describe" | "sampler" | "forward"> = {
    describe: async () => ({ ...(await new BigramEngine({ deterministic: false }).describe()) }),
    sampler: async () => sampler,
    forward: () => Promise.reject(new Error("This policy has no model.")),
  };
  return { id, engine, model: id, renderer, maxPositions: positions };
}

/** Returns a policy whose requests to its sampler are given to a function first. */
export function recording(source: PolicySource, record: (request: SampleRequest) => void): PolicySource {
  return {
    ...source,
    engine: {
      ...source.engine,
      async sampler(model: string) {
        const sampler = await source.engine.sampler(model);
        return {
          ...sampler,
          sample(request: SampleRequest, more?: SampleOptions) {
            record(request);
            return sampler.sample(request, more);
          },
        };
      },
    },
  };
}

/** Log-probability of token i: -i / 8, which float32 represents. */
function chunkOf(tokens: readonly number[], from: number): SampledChunk {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(tokens, (_, i) => -(from + i) / 8),
    versions: new Int32Array(tokens.length).fill(3),
  };
}

/** Reads the events of a streamed response, without `[DONE]`, which must be the last one. */
// oxlint-disable-next-line typescript/no-explicit-any
export async function events(url: string, path: string, body: object): Promise<any[]> {
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify({ ...body, stream: true }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const lines = text.split("\n\n").filter((line) => line !== "");
  if (lines.pop() !== "data: [DONE]") throw new Error(`The stream does not end with [DONE]: ${text.slice(-200)}`);
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}

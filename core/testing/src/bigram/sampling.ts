import { mix32 } from "@mrlm/kit/service";
import { MrlmError, type StopReason } from "@mrlm/spec";
import type { SampledChunk, SampleRequest, SampleResult } from "@mrlm/spec/host";
import { type BigramParameters, logSoftmaxRow } from "./parameters.ts";

/** Sequence that is sampled token by token. The random number of position i depends only on (key, i). */
export class BigramSequence {
  readonly #request: SampleRequest;
  readonly #longest: number;
  readonly #stops: ReadonlySet<number>;
  readonly #vocabSize: number;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #versions: number[] = [];

  /** Throws SEQUENCE_INVALID or SEQUENCE_TOO_LONG. */
  constructor(request: SampleRequest, limits: { readonly vocabSize: number; readonly maxPositions: number }) {
    const { prompt, params } = request;
    const { vocabSize, maxPositions } = limits;
    if (prompt.length === 0) throw new MrlmError("SEQUENCE_INVALID", "A sequence to sample has an empty prompt.");
    const bad = prompt.find((token) => token < 0 || token >= vocabSize);
    if (bad !== undefined)
      throw new MrlmError("SEQUENCE_INVALID", `A prompt holds token ${bad}; the vocabulary has ${vocabSize}.`);
    if (prompt.length >= maxPositions) {
      throw new MrlmError(
        "SEQUENCE_TOO_LONG",
        `A prompt of ${prompt.length} tokens leaves no room: the model takes ${maxPositions}.`,
      );
    }
    this.#request = request;
    this.#longest = Math.min(params.maxTokens, maxPositions - prompt.length);
    this.#stops = new Set(params.stopTokenIds);
    this.#vocabSize = vocabSize;
  }

  /** Reason of the end after the tokens so far; `undefined` while the sequence continues. */
  get stopReason(): StopReason | undefined {
    const last = this.#tokens.at(-1);
    if (last !== undefined && this.#stops.has(last)) return "stop";
    return this.#tokens.length < this.#longest ? undefined : "length";
  }

  /** Draws the next token. */
  draw(parameters: BigramParameters, version: number): SampledChunk {
    const { prompt, params, key } = this.#request;
    const length = this.#tokens.length;
    const previous = (this.#tokens.at(-1) ?? prompt.at(-1)) as number;
    const { token, logprob } = drawToken(
      logSoftmaxRow(parameters, previous, params.temperature === 0 ? 1 : params.temperature),
      params,
      length < (params.minTokens ?? 0) ? (candidate) => !this.#stops.has(candidate) : () => true,
      uniform(key, length),
    );
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    this.#versions.push(version);
    return { tokens: Int32Array.of(token), logprobs: Float32Array.of(logprob), versions: Int32Array.of(version) };
  }

  result(stopReason: StopReason): SampleResult {
    return {
      tokens: Int32Array.from(this.#tokens),
      logprobs: Float32Array.from(this.#logprobs),
      versions: Int32Array.from(this.#versions),
      stopReason,
      truncatedSupport: this.#tokens.length > 0 && isTruncated(this.#request.params, this.#vocabSize),
    };
  }
}

function isTruncated({ temperature, topK = 0, topP = 0 }: SampleRequest["params"], vocabSize: number): boolean {
  return temperature > 0 && ((topK > 0 && topK < vocabSize) || (topP > 0 && topP < 1));
}

/**
 * Draws a token. Its log-probability is that of the full softmax, also if stop tokens are forbidden; with top-k or top-p it is renormalised over
 * the kept tokens.
 */
function drawToken(
  row: Float64Array,
  params: SampleRequest["params"],
  allowed: (token: number) => boolean,
  u: number,
): { token: number; logprob: number } {
  const log = (token: number): number => row[token] as number;
  const ranked = Array.from(row.keys())
    .filter(allowed)
    .toSorted((a, b) => log(b) - log(a) || a - b);
  const best = ranked[0];
  if (best === undefined)
    throw new MrlmError(
      "SEQUENCE_INVALID",
      "Every token is a stop token, and stop tokens are forbidden at this position.",
    );
  if (params.temperature === 0) return { token: best, logprob: log(best) };
  const kept = isTruncated(params, row.length) ? truncate(ranked, log, params) : ranked;
  const mass = kept.reduce((sum, token) => sum + Math.exp(log(token)), 0);
  let rest = u * mass;
  const token = kept.find((candidate) => (rest -= Math.exp(log(candidate))) < 0) ?? (kept[kept.length - 1] as number);
  return { token, logprob: isTruncated(params, row.length) ? log(token) - Math.log(mass) : log(token) };
}

function truncate(
  ranked: readonly number[],
  log: (token: number) => number,
  { topK = 0, topP = 0 }: SampleRequest["params"],
): number[] {
  const top = topK > 0 ? ranked.slice(0, topK) : [...ranked];
  if (topP === 0 || topP >= 1) return top;
  let mass = 0;
  const end = top.findIndex((token) => (mass += Math.exp(log(token))) >= topP);
  return end < 0 ? top : top.slice(0, end + 1);
}

/** Returns a number in [0, 1), uniform over 64-bit keys and positions, by the finaliser of MurmurHash3. */
function uniform(key: bigint, position: number): number {
  let h = Number(BigInt.asUintN(32, key)) ^ Math.imul(position + 1, 0x9e3779b9);
  h = mix32(h);
  h = mix32((h + Number(BigInt.asUintN(32, key >> 32n))) | 0);
  return (h >>> 0) / 2 ** 32;
}

import { mix32 } from "@mrlm/kit";
import { type SampleRequest, type SampleResult, MrlmError } from "@mrlm/spec";
import { type BigramParameters, logSoftmaxRow } from "./parameters.ts";

/** Samples one sequence. The random number of position i depends only on (key, i). */
export function sampleSequence(
  parameters: BigramParameters,
  request: SampleRequest,
  limits: { readonly version: number; readonly maxPositions: number },
): SampleResult {
  const { prompt, params, key } = request;
  if (prompt.length === 0) throw new MrlmError("SEQUENCE_INVALID", "A sequence to sample has an empty prompt.");
  const bad = prompt.find((token) => token < 0 || token >= parameters.vocabSize);
  if (bad !== undefined)
    throw new MrlmError("SEQUENCE_INVALID", `A prompt holds token ${bad}; the vocabulary has ${parameters.vocabSize}.`);
  if (prompt.length >= limits.maxPositions) {
    throw new MrlmError(
      "SEQUENCE_TOO_LONG",
      `A prompt of ${prompt.length} tokens leaves no room: the model takes ${limits.maxPositions}.`,
    );
  }
  const tokens: number[] = [];
  const logprobs: number[] = [];
  const stops = new Set(params.stopTokenIds);
  let previous = prompt[prompt.length - 1] as number;
  let stopReason: SampleResult["stopReason"] = "length";
  const longest = Math.min(params.maxTokens, limits.maxPositions - prompt.length);
  while (tokens.length < longest) {
    const allowed = tokens.length < (params.minTokens ?? 0) ? (token: number) => !stops.has(token) : () => true;
    const drawn = drawToken(
      logSoftmaxRow(parameters, previous, params.temperature === 0 ? 1 : params.temperature),
      params,
      allowed,
      uniform(key, tokens.length),
    );
    tokens.push(drawn.token);
    logprobs.push(drawn.logprob);
    previous = drawn.token;
    if (stops.has(drawn.token)) {
      stopReason = "stop";
      break;
    }
  }
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    versions: new Int32Array(tokens.length).fill(limits.version),
    stopReason,
    truncatedSupport: isTruncated(params, parameters.vocabSize),
  };
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

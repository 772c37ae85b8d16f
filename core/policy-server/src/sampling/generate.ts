import { randomBytes } from "node:crypto";
import { ApiError, MAX_INT32, type ModelCall } from "@mrlm/kit/gateway";
import { hash64 } from "@mrlm/kit/service";
import { defined, type StopReason } from "@mrlm/spec";
import type { SampledChunk, SamplingParams } from "@mrlm/spec/host";
import { serverClosing } from "../api/server-closing.ts";
import type { ServedPolicy } from "../served-policy.ts";
import { Choice, type ChoiceUpdate } from "../text/choice.ts";
import type { TextSink } from "../text/text-sink.ts";
import type { Admission } from "./admission.ts";

/** One answer to sample. */
export interface Generation {
  readonly policy: ServedPolicy;
  readonly admission: Admission;
  readonly prompt: Int32Array;
  readonly parameters: ModelCall["sampling"];
  /** Texts at which the answer ends. */
  readonly stops: readonly string[];
  readonly maxTokens: number;
  readonly key: bigint;
  readonly sink: TextSink;
  /** Aborted when the client is gone, or when the server ends. */
  readonly signal: AbortSignal;
  /** Receives the parts of the answer as they are sampled, all but the last. Default: all parts come with the result. */
  readonly onUpdate?: (update: ChoiceUpdate) => void;
}

/** Last part of an answer, and its end. */
export interface Generated {
  readonly last: ChoiceUpdate;
  readonly finishReason: "stop" | "length";
  /** Stop string that ended the answer. */
  readonly stop?: string;
  /** Weight version of each sampled token, also of those that a stop string cut off. */
  readonly versions: Int32Array;
}

/** Samples an answer. Rejects with the reason of the signal if it is aborted. */
export async function generate(generation: Generation): Promise<Generated> {
  const { policy, stops, sink, signal, onUpdate } = generation;
  const params = samplingParams(generation);
  const choice = new Choice({
    sink,
    tokenizer: policy.renderer.tokenizer,
    stops,
    stopTokens: new Set(params.stopTokenIds),
  });
  const early = new AbortController();
  const onAbort = (): void => early.abort(signal.reason);
  const receive = (chunk: SampledChunk): void => {
    if (choice.stop !== undefined) return;
    policy.version = chunk.versions.at(-1) ?? policy.version;
    const update = choice.push(chunk);
    if (onUpdate === undefined) parts.push(update);
    else onUpdate(update);
    if (choice.stop !== undefined) early.abort();
  };
  const parts: ChoiceUpdate[] = [];
  const isStreamed = onUpdate !== undefined || stops.length > 0;
  const result = await generation.admission.run(signal, async () => {
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await policy.sampler.sample(
        { prompt: generation.prompt, params, key: generation.key },
        { signal: early.signal, ...(isStreamed && { onTokens: receive }) },
      );
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  });
  if (!isStreamed) receive(result);
  parts.push(choice.end());
  const last = parts.length === 1 ? (parts[0] as ChoiceUpdate) : join(parts);
  return {
    last,
    finishReason: choice.stop === undefined ? finishReason(result.stopReason, signal) : "stop",
    ...defined({ stop: choice.stop }),
    versions: result.versions,
  };
}

/** Returns the key of the random stream of an answer: by its seed, else random. */
export function samplingKey(seed: number | undefined, prompt: number, choice: number): bigint {
  return seed === undefined ? randomBytes(8).readBigUInt64LE() : hash64(`${seed}/${prompt}/${choice}`);
}

/**
 * Returns the most tokens that an answer may have: all free positions by default. Throws ApiError context_length_exceeded if prompt and answer have more tokens than
 * the model has positions.
 */
export function answerTokens(
  { maxPositions }: ServedPolicy,
  promptTokens: number,
  wanted: number | undefined,
  param: string,
): number {
  const room = maxPositions - promptTokens;
  if (room >= (wanted ?? 1)) return Math.min(wanted ?? room, MAX_INT32);
  const requested = wanted === undefined ? "" : ` and ${wanted} tokens of the answer`;
  throw new ApiError(
    400,
    "context_length_exceeded",
    `The model has ${maxPositions} positions. The request has a prompt of ${promptTokens} tokens${requested}.`,
    { param },
  );
}

/**
 * Refuses a text that has more tokens than the model has positions by its length alone. The tokens of megabytes of text would take seconds, in which the server answers no other
 * request. Throws ApiError context_length_exceeded.
 */
export function checkTextLength({ maxPositions, renderer }: ServedPolicy, characters: number, param: string): void {
  const tokens = Math.ceil(characters / renderer.tokenizer.longestToken);
  if (tokens < maxPositions) return;
  const message = `The model has ${maxPositions} positions. The request has a text of ${characters} characters, which are at least ${tokens} tokens.`;
  throw new ApiError(400, "context_length_exceeded", message, { param });
}

function samplingParams({ policy, parameters, maxTokens }: Generation): SamplingParams {
  const { temperature = 1, top_p, top_k = 0, min_tokens, stop_token_ids = [], ignore_eos = false } = parameters;
  return {
    temperature,
    maxTokens,
    ...(min_tokens === undefined ? {} : { minTokens: Math.min(min_tokens, maxTokens) }),
    ...defined({ topP: top_p }),
    ...(top_k <= 0 ? {} : { topK: top_k }),
    stopTokenIds: [...new Set([...(ignore_eos ? [] : policy.renderer.stopTokenIds), ...stop_token_ids])],
  };
}

function finishReason(reason: StopReason, signal: AbortSignal): "stop" | "length" {
  signal.throwIfAborted();
  if (reason === "cancelled") throw serverClosing();
  return reason;
}

function join(parts: readonly ChoiceUpdate[]): ChoiceUpdate {
  return {
    deltas: parts.flatMap(({ deltas }) => deltas),
    tokens: parts.flatMap(({ tokens }) => tokens),
    logprobs: parts.flatMap(({ logprobs }) => logprobs),
  };
}

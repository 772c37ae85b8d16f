import { hash64 } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import type { SampleRequest } from "@mrlm/spec/host";
import { z } from "zod";

/** Tokens of one request, in the order in which they were sampled. */
export interface Generated {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  /** Name of the weights of each token. */
  readonly weights: readonly string[];
  readonly reason: "stop" | "length" | "abort";
}

const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.enum(["stop", "length", "abort"]),
        token_ids: z.array(z.int().nonnegative()),
        weight_versions: z
          .array(z.object({ version: z.string(), start: z.int().nonnegative(), end: z.int().nonnegative() }))
          .nullish(),
        logprobs: z
          .object({ content: z.array(z.object({ token_id: z.int().nonnegative(), logprob: z.number().max(1e-3) })) })
          .nullish(),
      }),
    )
    .length(1),
});

/** Returns the body of a request for the rest of a sequence. */
export function generateBody(
  { prompt, params, key }: SampleRequest,
  { id, sampled, maxTokens, salt }: { id: string; sampled: readonly number[]; maxTokens: number; salt: string },
): object {
  const { temperature, topP = 1, topK = 0, stopTokenIds } = params;
  return {
    request_id: id,
    token_ids: [...prompt, ...sampled],
    // Blocks of other weights are never found under this salt.
    cache_salt: salt,
    stream: false,
    sampling_params: {
      max_tokens: maxTokens,
      temperature,
      top_p: topP === 0 ? 1 : topP,
      top_k: topK,
      min_p: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: 1,
      seed: seedOf(key, sampled.length),
      stop_token_ids: stopTokenIds,
      ignore_eos: true,
      logprobs: 0,
    },
  };
}

/** Returns a seed of 53 bits, which JSON carries exactly. The rest of a sequence has another seed than its beginning: equal seeds would repeat its draws. */
function seedOf(key: bigint, sampled: number): number {
  return Number(BigInt.asUintN(64, hash64(`${key}:${sampled}`)) >> 11n);
}

/** Reads an answer. Throws SAMPLER_INVALID for one that is incomplete or contradicts itself or the request. */
export function readGenerated(
  answer: unknown,
  { params }: SampleRequest,
  { maxTokens, isKnown }: { maxTokens: number; isKnown: (weights: string) => boolean },
): Generated {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`the field ${issue?.path.join(".")} is wrong: ${issue?.message}`);
  }
  const [choice] = parsed.data.choices as [z.output<typeof answerSchema>["choices"][number]];
  const { token_ids: tokens, finish_reason: reason } = choice;
  const content = choice.logprobs?.content ?? [];
  if (content.length !== tokens.length)
    throw invalid(`it has ${tokens.length} tokens and ${content.length} log-probabilities`);
  const other = content.findIndex(({ token_id }, i) => token_id !== tokens[i]);
  if (other >= 0) throw invalid(`the log-probability ${other} is of another token`);
  if (tokens.length > maxTokens) throw invalid(`it has ${tokens.length} tokens, where ${maxTokens} were allowed`);
  if (reason === "length" && tokens.length < maxTokens)
    throw invalid(`it ends by its length after ${tokens.length} of ${maxTokens} tokens`);
  const stop = tokens.findIndex((token) => params.stopTokenIds.includes(token));
  if ((reason === "stop" || stop >= 0) && stop !== tokens.length - 1)
    throw invalid(reason === "stop" ? "it stops without a stop token" : "it continues after a stop token");
  return {
    tokens,
    logprobs: content.map(({ logprob }) => logprob),
    weights: weightsOf(choice.weight_versions ?? [], tokens.length, isKnown),
    reason: stop >= 0 ? "stop" : reason,
  };
}

function weightsOf(
  spans: readonly { readonly version: string; readonly start: number; readonly end: number }[],
  count: number,
  isKnown: (weights: string) => boolean,
): string[] {
  const weights: string[] = [];
  for (const { version, start, end } of spans) {
    if (start !== weights.length || end < start || end > count)
      throw invalid(`its versions of weights are not in turn: ${start} to ${end} of ${count} tokens`);
    if (end > start && !isKnown(version)) throw new UnknownWeights(version);
    for (let i = start; i < end; i++) weights.push(version);
  }
  if (weights.length !== count)
    throw invalid(`${count - weights.length} of ${count} tokens have no version of weights`);
  return weights;
}

/** Weights in an answer that the server was not given by this process. */
export class UnknownWeights extends Error {
  readonly weights: string;

  constructor(weights: string) {
    super(`tokens were sampled from the unknown weights "${weights}"`);
    this.weights = weights;
  }
}

function invalid(what: string): MrlmError {
  return new MrlmError("SAMPLER_INVALID", `An answer of vLLM is refused: ${what}.`);
}

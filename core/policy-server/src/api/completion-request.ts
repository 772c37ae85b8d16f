import { type ModelCall, parseBody, samplingParameters, unsupported } from "@mrlm/kit/gateway";
import { z } from "zod";

const completionBody = z.strictObject({
  ...samplingParameters,
  prompt: z.union([
    z.string(),
    z.array(z.string()).min(1),
    z.array(z.int().min(0)).min(1),
    z.array(z.array(z.int().min(0)).min(1)).min(1),
  ]),
  echo: z.boolean().optional(),
  logprobs: z.int().min(0).optional(),
});

/** Request of `/v1/completions`. */
export interface CompletionRequest {
  readonly model: string;
  /** Number of answers for each prompt. */
  readonly n: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly returnTokenIds: boolean;
  readonly stops: readonly string[];
  readonly sampling: ModelCall["sampling"];
  readonly prompts: readonly (string | readonly number[])[];
  /** 0 only with `echo`. */
  readonly maxTokens: number;
  readonly echo: boolean;
  readonly logprobs: boolean;
}

/** Default of OpenAI's API. */
const MAX_TOKENS = 16;

/** Parses a request. Throws ApiError with status 400. */
export function parseCompletionRequest(body: unknown): CompletionRequest {
  const {
    model,
    prompt,
    max_tokens = MAX_TOKENS,
    echo = false,
    logprobs,
    n = 1,
    stop,
    stream = false,
    stream_options,
    return_token_ids = false,
    user: _,
    ...sampling
  } = parseBody(completionBody, body);
  if (max_tokens === 0 && !echo) throw unsupported("max_tokens", " It is 0 only with 'echo'.");
  if (logprobs !== undefined && logprobs > 1)
    throw unsupported("logprobs", " It is 0 or 1: the log-probabilities are those of the sampled tokens alone.");
  const isOne = typeof prompt === "string" || typeof prompt[0] === "number";
  return {
    ...{ model, n, stream, returnTokenIds: return_token_ids, includeUsage: stream_options?.include_usage ?? false },
    stops: [stop ?? []].flat(),
    sampling,
    prompts: isOne ? [prompt as string | number[]] : (prompt as string[] | number[][]),
    maxTokens: max_tokens,
    echo,
    logprobs: logprobs !== undefined,
  };
}

import type { RolloutSampling } from "@mrlm/spec";
import type { ResolvedSampling } from "../config/resolved-config.ts";

/** Converts the sampling section of the configuration to the contract's type. */
export function rolloutSampling(sampling: ResolvedSampling): RolloutSampling {
  return {
    temperature: sampling.temperature,
    maxTokens: sampling.max_tokens,
    ...(sampling.min_tokens === undefined ? {} : { minTokens: sampling.min_tokens }),
    ...(sampling.top_p === undefined ? {} : { topP: sampling.top_p }),
    ...(sampling.top_k === undefined ? {} : { topK: sampling.top_k }),
    ...(sampling.ignore_stop === undefined ? {} : { ignoreStop: sampling.ignore_stop }),
  };
}

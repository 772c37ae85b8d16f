import type { ModelId } from "@mrlm/spec";
import type { SampledChunk, Sampler } from "@mrlm/spec/host";
import { BigramEngine } from "../bigram/engine.ts";

/** {@link BigramEngine} whose sampler returns log-probabilities in bfloat16, so that they differ from those of training as in a model of 16 bits. */
export class RoundingEngine extends BigramEngine {
  override async sampler(model: ModelId): Promise<Sampler> {
    const exact = await super.sampler(model);
    return {
      sample: async (request, { onTokens, ...options } = {}) => {
        const rounded = <T extends SampledChunk>(chunk: T): T => ({
          ...chunk,
          logprobs: chunk.logprobs.map(toBfloat16),
        });
        return rounded(
          await exact.sample(request, {
            ...options,
            ...(onTokens !== undefined && { onTokens: (chunk) => onTokens(rounded(chunk)) }),
          }),
        );
      },
      barrier: () => exact.barrier(),
      close: () => exact.close(),
    };
  }
}

/** Rounds to 8 significant bits. */
export function toBfloat16(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 7);
  return Math.round(value / unit) * unit;
}

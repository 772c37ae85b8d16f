import type { ForwardBackwardOptions, ModelId, OptimStepOptions } from "@mrlm/spec";
import type { Engine, Sampler } from "@mrlm/spec/host";
import { BigramEngine } from "../bigram/engine.ts";

/** Sequence that a model sampled: prompt and answer together. */
export interface RecordedSample {
  readonly model: ModelId;
  readonly tokens: Int32Array;
  /** Index of the first sampled token. */
  readonly start: number;
  readonly stopTokenIds: readonly number[];
}

/** Passes, optimizer steps and samples of a run, in order. */
export interface RecordedLearning {
  readonly passes: readonly ForwardBackwardOptions[];
  readonly steps: readonly OptimStepOptions[];
  readonly samples: readonly RecordedSample[];
}

/** Returns a {@link BigramEngine}, or the given engine, that records passes, optimizer steps and samples. */
export function recordingEngine(inner: Engine = new BigramEngine()): {
  readonly engine: Engine;
  readonly asked: RecordedLearning;
} {
  const passes: ForwardBackwardOptions[] = [];
  const steps: OptimStepOptions[] = [];
  const samples: RecordedSample[] = [];
  const engine = new Proxy(inner, {
    get(target, property: keyof Engine) {
      if (property === "forwardBackward")
        return (options: ForwardBackwardOptions) => (passes.push(options), target.forwardBackward(options));
      if (property === "optimStep")
        return (options: OptimStepOptions) => (steps.push(options), target.optimStep(options));
      if (property === "sampler")
        return async (model: ModelId) => recordingSampler(await target.sampler(model), model, samples);
      return target[property].bind(target);
    },
  });
  return { engine, asked: { passes, steps, samples } };
}

function recordingSampler(inner: Sampler, model: ModelId, samples: RecordedSample[]): Sampler {
  return {
    async sample(request, options) {
      const result = await inner.sample(request, options);
      const tokens = Int32Array.of(...request.prompt, ...result.tokens);
      samples.push({ model, tokens, start: request.prompt.length, stopTokenIds: request.params.stopTokenIds });
      return result;
    },
    barrier: () => inner.barrier(),
    close: () => inner.close(),
  };
}

import type { Engine, ForwardBackwardOptions, OptimStepOptions } from "@mrlm/spec";
import { BigramEngine } from "../bigram/engine.ts";

/** Passes and optimizer steps of an algorithm, in order. */
export interface RecordedLearning {
  readonly passes: readonly ForwardBackwardOptions[];
  readonly steps: readonly OptimStepOptions[];
}

/** Returns a {@link BigramEngine}, or the given engine, that records passes and optimizer steps. */
export function recordingEngine(inner: Engine = new BigramEngine()): {
  readonly engine: Engine;
  readonly asked: RecordedLearning;
} {
  const passes: ForwardBackwardOptions[] = [];
  const steps: OptimStepOptions[] = [];
  const engine = new Proxy(inner, {
    get(target, property: keyof Engine) {
      if (property === "forwardBackward")
        return (options: ForwardBackwardOptions) => (passes.push(options), target.forwardBackward(options));
      if (property === "optimStep")
        return (options: OptimStepOptions) => (steps.push(options), target.optimStep(options));
      return target[property].bind(target);
    },
  });
  return { engine, asked: { passes, steps } };
}

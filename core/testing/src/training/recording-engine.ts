import type { Engine, ForwardBackwardOptions, OptimStepOptions } from "@mrlm/spec";
import { BigramEngine } from "../bigram/engine.ts";

/** What an algorithm asked an engine to learn, in order. */
export interface RecordedLearning {
  readonly passes: readonly ForwardBackwardOptions[];
  readonly steps: readonly OptimStepOptions[];
}

/** A {@link BigramEngine} (or the one that is given) that notes what it is asked to learn. */
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

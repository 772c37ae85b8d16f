import type { Engine, LearningEngine } from "@mrlm/spec";

/** Returns the methods of an engine that an algorithm may call. The run publishes, samples and saves. */
export function learningEngine(engine: Engine): LearningEngine {
  return {
    describe: () => engine.describe(),
    createModel: (options) => engine.createModel(options),
    releaseModel: (model) => engine.releaseModel(model),
    forward: (options) => engine.forward(options),
    forwardBackward: (options) => engine.forwardBackward(options),
    optimStep: (options) => engine.optimStep(options),
  };
}

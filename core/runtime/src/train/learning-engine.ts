import type { LearningEngine, ModelId, ModelSource } from "@mrlm/spec";

/** Id under which an algorithm creates its critic. */
const CRITIC: ModelId = "critic";

/**
 * Returns the methods of a trainer that an algorithm may call. The run publishes, samples and saves.
 * @param suffix of the critic's id in the engine, where each of several policies may have one
 */
export function learningEngine(engine: LearningEngine, suffix = ""): LearningEngine {
  const critic = `${CRITIC}${suffix}`;
  const inEngine = (model: ModelId): ModelId => (model === CRITIC ? critic : model);
  const sourceOf = (source: ModelSource): ModelSource =>
    "of" in source ? { ...source, of: inEngine(source.of) } : source;
  return {
    async describe() {
      const info = await engine.describe();
      return {
        ...info,
        models: info.models.map((each) => (each.model === critic ? { ...each, model: CRITIC } : each)),
      };
    },
    createModel: (options) =>
      engine.createModel({ ...options, model: inEngine(options.model), source: sourceOf(options.source) }),
    releaseModel: (model) => engine.releaseModel(inEngine(model)),
    forward: (options) => engine.forward({ ...options, model: inEngine(options.model) }),
    forwardBackward: (options) => engine.forwardBackward({ ...options, model: inEngine(options.model) }),
    optimStep: (options) => engine.optimStep({ ...options, model: inEngine(options.model) }),
  };
}

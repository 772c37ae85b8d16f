import type { Engine, ModelId } from "@mrlm/spec";

/** Told of what happens to the weights of a model. */
export interface PublishingWatch {
  isPublished: boolean;
}

/** An engine that notes whether the sampler has a model's present weights. */
export function watchPublishing(engine: Engine, watched: ModelId, watch: PublishingWatch): Engine {
  return {
    describe: () => engine.describe(),
    createModel: (options) => engine.createModel(options),
    releaseModel: (model) => engine.releaseModel(model),
    sampler: (model) => engine.sampler(model),
    forward: (options) => engine.forward(options),
    forwardBackward: (options) => engine.forwardBackward(options),
    async optimStep(options) {
      const result = await engine.optimStep(options);
      if (options.model === watched && result.applied) watch.isPublished = false;
      return result;
    },
    async publish(model) {
      const result = await engine.publish(model);
      if (model === watched) watch.isPublished = true;
      return result;
    },
    save: (directory) => engine.save(directory),
    load: (directory) => engine.load(directory),
    export: (model, directory, options) => engine.export(model, directory, options),
    close: () => engine.close(),
  };
}

import type { Engine, ForwardBackwardResult, ModelId } from "@mrlm/spec";

/** State that follows the publications of a model. */
export interface PublishingWatch {
  isPublished: boolean;
}

/**
 * Wraps an engine. Records whether the sampler has a model's current weights, and reports the results of passes.
 *
 * A checkpoint holds the trainer's weights only. If they were not published when it was written, loading it loses the sampler's older weights. Then the
 * first sampling publishes the loaded weights, so that each token has the version of the weights that it was drawn from.
 */
export function watchEngine(
  engine: Engine,
  watched: ModelId,
  watch: PublishingWatch,
  {
    onPass,
    microBatchTokens,
  }: { onPass(model: ModelId, result: ForwardBackwardResult): void; readonly microBatchTokens?: number | undefined },
): Engine {
  let samplerIsUnnamed = !watch.isPublished;
  const publish: Engine["publish"] = async (model) => {
    const result = await engine.publish(model);
    if (model === watched) {
      watch.isPublished = true;
      samplerIsUnnamed = false;
    }
    return result;
  };
  return {
    describe: () => engine.describe(),
    estimateMemory: (workload) => engine.estimateMemory(workload),
    // A copy has the budget of its original.
    createModel: (options) =>
      engine.createModel(
        microBatchTokens === undefined || options.source.kind !== "directory"
          ? options
          : { microBatchTokens, ...options },
      ),
    releaseModel: (model) => engine.releaseModel(model),
    async sampler(model) {
      if (samplerIsUnnamed && model === watched) await publish(model);
      return engine.sampler(model);
    },
    forward: (options) => engine.forward(options),
    async forwardBackward(options) {
      const result = await engine.forwardBackward(options);
      onPass(options.model, result);
      return result;
    },
    async optimStep(options) {
      const result = await engine.optimStep(options);
      if (options.model === watched && result.applied) watch.isPublished = false;
      return result;
    },
    publish,
    save: (directory) => engine.save(directory),
    load: (directory, options) => engine.load(directory, options),
    export: (model, directory, options) => engine.export(model, directory, options),
    close: () => engine.close(),
  };
}

import { traced } from "@mrlm/kit/service";
import type { Attributes } from "@opentelemetry/api";
import type { EngineUnit, ForwardBackwardResult, LearningEngine, ModelId, PolicyId } from "@mrlm/spec";
import type { Engine, ModelSource } from "@mrlm/spec/host";

/** Id under which an algorithm creates its critic. */
const CRITIC: ModelId = "critic";

/** Weights of a model that the sampler has. */
export interface PublishedWeights {
  readonly version: number;
  readonly checksum: string;
}

/** State that follows the publications of models. */
export interface PublishingWatch {
  /** By policy; `null` while the trainer has newer weights than the sampler. */
  published: Record<PolicyId, PublishedWeights | null>;
}

/** Wraps an engine. Records whether the sampler has the current weights of the policies, and reports the results of passes. */
export function watchEngine(
  engine: Engine,
  policies: ReadonlySet<PolicyId>,
  watch: PublishingWatch,
  {
    onPass,
    microBatchTokens,
  }: { onPass(model: ModelId, result: ForwardBackwardResult): void; readonly microBatchTokens?: number | undefined },
): Engine {
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
    readTokenizer: (model) => engine.readTokenizer(model),
    sampler: (model) => engine.sampler(model),
    forward: (options) => engine.forward(options),
    async forwardBackward(options) {
      const result = await engine.forwardBackward(options);
      onPass(options.model, result);
      return result;
    },
    async optimStep(options) {
      const result = await engine.optimStep(options);
      if (policies.has(options.model) && result.applied) watch.published[options.model] = null;
      return result;
    },
    average: (options) => engine.average(options),
    writeWeights: (model, directory, options) => engine.writeWeights(model, directory, options),
    async publish(model, inFlight) {
      const { version, checksum, seconds } = await engine.publish(model, inFlight);
      if (policies.has(model)) watch.published[model] = { version, checksum };
      return { version, checksum, seconds };
    },
    save: (directory) => engine.save(directory),
    load: (directory, options) => engine.load(directory, options),
    export: (model, directory, options) => engine.export(model, directory, options),
    close: () => engine.close(),
  };
}

/** Runs a call of the engine in a span with the number of its sequences and tokens. */
function pass<T>(
  name: string,
  { model, units = [] }: { readonly model: ModelId; readonly units?: readonly EngineUnit[] },
  work: () => Promise<T>,
): Promise<T> {
  const attributes = (): Attributes => {
    const sequences = units.flatMap((unit) => unit.sequences);
    const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0);
    return {
      "mrlm.model": model,
      ...(units.length > 0 && { "mrlm.sequences": sequences.length, "mrlm.tokens": tokens }),
    };
  };
  return traced(`engine ${name}`, attributes, work, { kind: "client" });
}

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
    forward: (options) =>
      pass("forward", options, () => engine.forward({ ...options, model: inEngine(options.model) })),
    forwardBackward: (options) =>
      pass("forward_backward", options, () => engine.forwardBackward({ ...options, model: inEngine(options.model) })),
    optimStep: (options) =>
      pass("optim_step", options, () => engine.optimStep({ ...options, model: inEngine(options.model) })),
  };
}

import { randomUUID } from "node:crypto";
import {
  type EngineUnit,
  type ForwardBackwardOptions,
  type ForwardBackwardResult,
  type ModelId,
  MrlmError,
  type OptimStepOptions,
  type OptimStepResult,
  type OutputSelection,
  type UnitGradients,
  type UnitOutputs,
} from "@mrlm/spec";
import type {
  AverageOptions,
  CreatedModel,
  CreateModelOptions,
  Engine,
  EngineInfo,
  LoadOptions,
  MemoryEstimate,
  MemoryWorkload,
  ModelInfo,
  PublishResult,
  Sampler,
  SamplerInfo,
} from "@mrlm/spec/host";
import { loadModels, saveModels } from "./checkpoint.ts";
import type { BigramModel } from "./model.ts";
import type { BigramParameters } from "./parameters.ts";
import { bigramSamplerInfo } from "./external-sampler.ts";
import { makeModel } from "./make-model.ts";
import { backwardUnit, checkGradients, checkUnit, forwardUnit } from "./passes.ts";
import { BigramSampler } from "./sampler.ts";
import { packArrays, writeDirectory } from "./storage.ts";

/** Loss that may be asynchronous, because a client computes it at the other end of a connection. */
export type AsyncUnitLoss = (unitIndex: number, outputs: UnitOutputs) => UnitGradients | Promise<UnitGradients>;

/**
 * Engine in this process, for tests of algorithms and of the wire. A model is a table of logits of each token given the previous token, with an optional
 * table of values, so that all results are exact, deterministic and fast. It implements the contract of {@link Engine} except adapters.
 * `microBatchTokens` divides batches as in other engines; the result does not depend on it.
 */
export class BigramEngine implements Engine {
  readonly #models = new Map<ModelId, BigramModel>();
  readonly #instanceId = randomUUID();
  readonly #isDeterministic: boolean;

  /** @param options.deterministic false to sample sequences at once, without waves; default true */
  constructor({ deterministic = true }: { readonly deterministic?: boolean } = {}) {
    this.#isDeterministic = deterministic;
  }

  async describe(): Promise<EngineInfo> {
    return {
      device: "cpu",
      deviceName: "bigram tables in this process",
      versions: { torch: "none", transformers: "none", python: "none" },
      deterministic: this.#isDeterministic,
      threads: 1,
      worldSize: 1,
      instanceId: this.#instanceId,
      memory: { allocatedBytes: 0, peakBytes: 0 },
      computeSeconds: 0,
      models: Array.from(this.#models.values(), (model) => model.info),
    };
  }

  async describeSampler(): Promise<SamplerInfo> {
    return bigramSamplerInfo(this.#instanceId, this.#isDeterministic, this.#models, []);
  }

  /** Returns the weights of a model that are published now, for another sampler. */
  published(model: ModelId): BigramModel {
    return this.#model(model).publishedCopy();
  }

  /** Tables of a few thousand numbers always fit, so that the free memory is not measured. */
  async estimateMemory({ models, sequenceTokens = 0 }: MemoryWorkload): Promise<MemoryEstimate> {
    const lines = models.map(({ model, source }) => {
      const size = source.kind === "random" ? Number(source.config["vocab_size"] ?? 0) : 0;
      return { model, part: "weights", bytes: 4 * size * size, formula: `${size} x ${size} x 4 bytes` };
    });
    const totalBytes = lines.reduce((sum, { bytes }) => sum + bytes, 0);
    const wantedTokens = Math.max(1, ...models.map(({ microBatchTokens }) => microBatchTokens ?? 0), sequenceTokens);
    const same = {
      microBatchTokens: wantedTokens,
      wantedTokens,
      leastTokens: sequenceTokens,
      fittingSequenceTokens: sequenceTokens,
    };
    return {
      lines,
      totalBytes,
      wantedBytes: totalBytes,
      leastBytes: totalBytes,
      availableBytes: 0,
      availableFrom: "",
      ...same,
    };
  }

  async createModel(options: CreateModelOptions): Promise<CreatedModel> {
    const made = await makeModel(options, (id) => this.#model(id));
    this.#models.set(options.model, made);
    return { info: made.info, tokenizerFiles: made.tokenizerFiles };
  }

  async releaseModel(model: ModelId): Promise<void> {
    this.#model(model);
    this.#models.delete(model);
  }

  async readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    return this.#model(model).tokenizerFiles;
  }

  async sampler(model: ModelId): Promise<Sampler> {
    return new BigramSampler(this.#model(model), this.#isDeterministic);
  }

  async forward(options: {
    readonly model: ModelId;
    readonly units: readonly EngineUnit[];
    readonly outputs: OutputSelection;
    readonly temperature?: number;
  }): Promise<readonly UnitOutputs[]> {
    const model = this.#checked(options);
    return options.units.map((unit) => forwardUnit(model.parameters, unit, options.outputs, options.temperature || 1));
  }

  async forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult> {
    return this.accumulate(options);
  }

  /** `forwardBackward` with a loss that may be asynchronous. A rejection leaves the accumulated gradient unchanged. */
  async accumulate(
    options: Omit<ForwardBackwardOptions, "loss"> & { readonly loss: AsyncUnitLoss | readonly UnitGradients[] },
  ): Promise<ForwardBackwardResult> {
    const { units, outputs: selection, loss, normalizer } = options;
    const model = this.#checked(options);
    model.assertTrainable();
    if (!Number.isFinite(normalizer) || normalizer <= 0)
      throw new MrlmError("NORMALIZER_INVALID", `The normalizer is ${normalizer}.`);
    const started = performance.now();
    const temperature = options.temperature || 1;
    const batches = microBatches(units, model.options.microBatchTokens || Number.POSITIVE_INFINITY);
    const outputs: UnitOutputs[] = [];
    const gradients: UnitGradients[] = [];
    for (const batch of batches) {
      for (const i of batch) outputs[i] = forwardUnit(model.parameters, units[i] as EngineUnit, selection, temperature);
      const answers = await Promise.all(
        batch.map(async (i) => (typeof loss === "function" ? loss(i, outputs[i] as UnitOutputs) : (loss[i] ?? {}))),
      );
      if (options.signal?.aborted)
        throw new MrlmError("CANCELLED", "A pass was cancelled by its caller.", { cause: options.signal.reason });
      batch.forEach((i, at) => {
        gradients[i] = answers[at] as UnitGradients;
        checkGradients(units[i] as EngineUnit, gradients[i], i);
      });
    }
    const forwardEnd = performance.now();
    units.forEach((unit, i) =>
      backwardUnit(model.parameters, unit, gradients[i] as UnitGradients, {
        temperature,
        scale: 1 / normalizer,
        into: model.gradients,
      }),
    );
    const tokens = units.reduce((sum, unit) => sum + countTokens(unit), 0);
    return {
      outputs: typeof loss === "function" || options.returnOutputs ? outputs : [],
      microBatches: batches.length,
      tokens,
      computedTokens: tokens,
      seconds: { forward: (forwardEnd - started) / 1000, backward: (performance.now() - forwardEnd) / 1000 },
      memoryRetries: 0,
      microBatchTokens: model.options.microBatchTokens ?? 0,
    };
  }

  async optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#model(options.model).optimStep(options);
  }

  async average({ model, of, decay }: AverageOptions): Promise<void> {
    this.#model(model).average(this.#model(of), decay);
  }

  async publish(model: ModelId): Promise<PublishResult> {
    return this.#model(model).publish();
  }

  async writeWeights(model: ModelId, directory: string): Promise<Pick<PublishResult, "version" | "checksum">> {
    await this.#export(this.#model(model), this.#model(model).published, directory);
    return { version: this.#model(model).version, checksum: this.#model(model).checksum() };
  }

  async save(directory: string): Promise<{ readonly bytes: number; readonly checksum: string }> {
    return saveModels([...this.#models.values()], directory);
  }

  async load(directory: string, options: LoadOptions = {}): Promise<readonly ModelInfo[]> {
    const models = await loadModels(directory, options);
    this.#models.clear();
    for (const model of models) this.#models.set(model.options.model, model);
    return models.map((model) => model.info);
  }

  async export(model: ModelId, directory: string): Promise<readonly string[]> {
    return await this.#export(this.#model(model), this.#model(model).parameters, directory);
  }

  async #export({ config, tokenizerFiles }: BigramModel, parameters: BigramParameters, directory: string) {
    const files = {
      ...tokenizerFiles,
      "config.json": JSON.stringify(config),
      "weights.bin": packArrays([parameters.logits, parameters.values]),
    };
    await writeDirectory(directory, files);
    return Object.keys(files);
  }

  async close(): Promise<void> {
    this.#models.clear();
  }

  #model(id: ModelId): BigramModel {
    const model = this.#models.get(id);
    if (model === undefined) throw new MrlmError("MODEL_NOT_FOUND", `The engine holds no model "${id}".`);
    return model;
  }

  /** Returns the model of a pass. Throws unless it can evaluate every unit. */
  #checked(options: {
    readonly model: ModelId;
    readonly units: readonly EngineUnit[];
    readonly outputs: OutputSelection;
  }): BigramModel {
    const model = this.#model(options.model);
    if ((options.outputs.value || options.outputs.finalValue) && !model.options.valueHead) {
      throw new MrlmError("VALUE_HEAD_MISSING", `Model "${options.model}" has no value head.`);
    }
    const limits = { vocabSize: model.parameters.vocabSize, maxPositions: model.maxPositions };
    options.units.forEach((unit, i) => checkUnit(unit, limits, i));
    return model;
  }
}

/** Divides the indices of units into batches within the token budget. A larger unit is a batch by itself. */
function microBatches(units: readonly EngineUnit[], budget: number): number[][] {
  const batches: number[][] = [];
  let left = 0;
  units.forEach((unit, i) => {
    const tokens = countTokens(unit);
    if (batches.length === 0 || tokens > left) {
      batches.push([]);
      left = budget;
    }
    batches.at(-1)?.push(i);
    left -= tokens;
  });
  return batches;
}

function countTokens({ sequences }: EngineUnit): number {
  return sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

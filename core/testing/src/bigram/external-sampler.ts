import { randomUUID } from "node:crypto";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { ExternalSampler, Sampler, SamplerInfo, UpdateResult, WeightsUpdate } from "@mrlm/spec/host";
import type { BigramModel } from "./model.ts";
import { BigramSampler } from "./sampler.ts";

/** Trainer whose published weights are read. */
export interface BigramTrainer {
  published(model: ModelId): BigramModel;
}

/** Describes a sampler of bigram tables. */
export function bigramSamplerInfo(
  instanceId: string,
  deterministic: boolean,
  models: ReadonlyMap<ModelId, BigramModel>,
  updates: SamplerInfo["capabilities"]["updates"],
): SamplerInfo {
  return {
    instanceId,
    device: "cpu",
    deviceName: "bigram tables in this process",
    software: { torch: "none" },
    threads: 1,
    models: Array.from(models, ([model, held]) => ({ model, version: held.version, checksum: held.checksum() })),
    capabilities: {
      deterministic,
      logprobs: "drawn",
      updates,
      inFlight: ["recompute", "keep", "wait"],
      proof: "checksum",
    },
    runningTokens: 0,
    computeSeconds: 0,
  };
}

/** Sampler beside a BigramEngine of this process, for tests of pools: it copies the published weights. */
export class BigramExternalSampler implements ExternalSampler {
  readonly #trainer: BigramTrainer;
  readonly #isDeterministic: boolean;
  readonly #instanceId = randomUUID();
  readonly #models = new Map<ModelId, BigramModel>();

  constructor(trainer: BigramTrainer, { deterministic = true }: { readonly deterministic?: boolean } = {}) {
    this.#trainer = trainer;
    this.#isDeterministic = deterministic;
  }

  async describe(): Promise<SamplerInfo> {
    return bigramSamplerInfo(this.#instanceId, this.#isDeterministic, this.#models, ["trainer"]);
  }

  async readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    return this.#model(model).tokenizerFiles;
  }

  async sampler(model: ModelId): Promise<Sampler> {
    return new BigramSampler(this.#model(model), this.#isDeterministic);
  }

  async update({ model, version, checksum }: WeightsUpdate): Promise<UpdateResult> {
    const found = this.#trainer.published(model);
    if (found.version !== version)
      throw new MrlmError("WEIGHTS_VERSION", `The trainer has published version ${found.version}, not ${version}.`);
    if (found.checksum() !== checksum) throw new MrlmError("WEIGHTS_INVALID", "The weights have another checksum.");
    this.#models.set(model, found);
    return { version, checksum, seconds: 0 };
  }

  async close(): Promise<void> {
    this.#models.clear();
  }

  #model(id: ModelId): BigramModel {
    const model = this.#models.get(id);
    if (model === undefined) throw new MrlmError("MODEL_NOT_FOUND", `The sampler has no weights of "${id}".`);
    return model;
  }
}

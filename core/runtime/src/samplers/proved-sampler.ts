import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defined, type Logger, type ModelId, MrlmError } from "@mrlm/spec";
import type {
  Engine,
  ExternalSampler,
  SampledChunk,
  SampleOptions,
  Sampler,
  SampleRequest,
  SampleResult,
  SamplerInfo,
  UpdateResult,
  WeightsSource,
  WeightsUpdate,
} from "@mrlm/spec/host";
import { probeDifference, type ProbedModel, probeSequence, referenceSequence } from "./probe.ts";

/** Part of the trainer that proves weights. */
type Prover = Pick<Engine, "describe" | "writeWeights" | "sampler" | "close">;

/** Largest difference in nats between two implementations of one model in float32. */
const PROBE_LIMIT = 1e-4;

/** Options of a {@link ProvedSampler}. */
export interface ProvedSamplerOptions {
  /** Sampler that reads weights from a directory. */
  readonly sampler: ExternalSampler;
  /** Folder for weights, which the trainer and the sampler both see under this path. */
  readonly directory: string;
  /** Largest difference in nats that a probe accepts; default 1e-4, for float32. */
  readonly probeLimit?: number;
  readonly logger: Logger;
  /** Connects to the engine that holds the published weights. */
  connect(source: Extract<WeightsSource, { readonly kind: "trainer" }>): Promise<Prover>;
}

/**
 * Sampler that gets its weights from the trainer, in place of a directory. Each update is proved by a probe before a result leaves it. After a probe that fails it
 * rejects every sequence with SAMPLER_PROBE_FAILED.
 */
export class ProvedSampler implements ExternalSampler {
  readonly #options: ProvedSamplerOptions;
  readonly #sampler: ExternalSampler;
  /** Ends with the update that runs, and never rejects. */
  #proving: Promise<void> | undefined;
  #failed: MrlmError | undefined;
  #proved: WeightsUpdate | undefined;
  /** Model of the last probe. */
  #probed: ProbedModel | undefined;
  #isAsleep = false;
  /** Number of sequences that run. */
  #running = 0;
  /** Directories that were written. More than one remain after updates that failed. */
  readonly #written = new Set<string>();

  constructor(options: ProvedSamplerOptions) {
    this.#options = options;
    this.#sampler = options.sampler;
  }

  async describe(): Promise<SamplerInfo> {
    const info = await this.#sampler.describe();
    const { model, version } = this.#proved ?? {};
    return {
      ...info,
      models: info.models.filter((held) => held.model === model && held.version === version),
      capabilities: { ...info.capabilities, updates: ["trainer"] },
    };
  }

  async readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    await this.#proven(model);
    return await this.#sampler.readTokenizer(model);
  }

  async sampler(model: ModelId): Promise<Sampler> {
    await this.#proven(model);
    const inner = await this.#sampler.sampler(model);
    return {
      sample: (request, options = {}) => this.#sample({ model, sampler: inner }, request, options),
      barrier: () => inner.barrier(),
      close: () => inner.close(),
    };
  }

  async update(update: WeightsUpdate): Promise<UpdateResult> {
    await this.#ready();
    const started = performance.now();
    const { source } = update;
    if (source.kind !== "trainer")
      throw new MrlmError("OPTIONS_INVALID", "This sampler gets its weights from a trainer, which proves them.");
    const work = this.#update(update, source);
    this.#proving = work.then(
      () => undefined,
      () => undefined,
    );
    try {
      const probeDifference = await work;
      return { version: update.version, checksum: "", probeDifference, seconds: (performance.now() - started) / 1000 };
    } finally {
      this.#proving = undefined;
    }
  }

  /** Puts the sampler to sleep, after the sequence of the probe, so that a prefix cache that outlives both is found too. */
  async sleep(): Promise<void> {
    await this.#ready();
    if (this.#isAsleep || this.#running > 0 || this.#probed === undefined || this.#proved === undefined) return;
    await this.#fillCache(this.#probed);
    // A sequence or an update may have begun meanwhile: the sampler stays awake for it.
    if (this.#running > 0 || this.#proving !== undefined) return;
    await this.#sampler.sleep?.();
    this.#isAsleep = true;
  }

  async close(): Promise<void> {
    await this.#sampler.close();
    await this.#removeWritten();
  }

  async #update(update: WeightsUpdate, source: Parameters<ProvedSamplerOptions["connect"]>[0]): Promise<number> {
    const { model, version, checksum } = update;
    const trainer = await this.#options.connect(source);
    try {
      const { models } = await trainer.describe();
      const probed = models.find((each) => each.model === model);
      if (probed === undefined) throw new MrlmError("MODEL_NOT_FOUND", `The trainer has no model "${model}".`);
      const directory = join(this.#options.directory, `version-${version}`);
      this.#written.add(directory);
      const written = await trainer.writeWeights(model, directory, { untied: true });
      if (written.version !== version || written.checksum !== checksum)
        throw new MrlmError("WEIGHTS_VERSION", `The trainer has published version ${written.version}, not ${version}.`);
      const reference = await trainer.sampler(model);
      try {
        // The trainer may publish at any time: a version that it has replaced is refused while the sampler still has proved weights.
        const first = await referenceSequence(reference, probed, version);
        // Asleep, it has drawn the sequence before, and would need all of its memory for it now.
        if (!this.#isAsleep) await this.#fillCache(probed);
        this.#isAsleep = false;
        this.#proved = undefined;
        await this.#sampler.update({ ...update, source: { kind: "directory", directory } });
        const difference = await this.#probe({ trainer: reference, first }, probed, version);
        this.#proved = update;
        this.#probed = probed;
        await this.#removeWritten(directory);
        this.#options.logger.info(`version ${version} of "${model}" is proved`, { difference });
        return difference;
      } finally {
        await reference.close();
      }
    } finally {
      await trainer.close();
    }
  }

  /** @param kept directory that the sampler has read last */
  async #removeWritten(kept?: string): Promise<void> {
    for (const directory of this.#written) {
      if (directory === kept) continue;
      await rm(directory, { recursive: true, force: true });
      this.#written.delete(directory);
    }
  }

  /** Samples the sequence of the probe from the weights that are to be replaced: a prefix cache that outlives them is then found. */
  async #fillCache(model: ProbedModel): Promise<void> {
    const { models } = await this.#sampler.describe();
    if (!models.some((held) => held.model === model.model)) return;
    const sampler = await this.#sampler.sampler(model.model);
    try {
      await probeSequence(sampler, model);
    } finally {
      await sampler.close();
    }
  }

  async #probe(
    reference: { readonly trainer: Sampler; readonly first: SampleResult },
    model: ProbedModel,
    version: number,
  ): Promise<number> {
    const sampler = await this.#sampler.sampler(model.model);
    try {
      const difference = await probeDifference({ ...reference, sampler }, model, version);
      const { probeLimit = PROBE_LIMIT } = this.#options;
      if (difference <= probeLimit) return difference;
      this.#failed = new MrlmError(
        "SAMPLER_PROBE_FAILED",
        `Log-probabilities of version ${version} of "${model.model}" differ from the trainer's by ${difference.toPrecision(3)} nats, where ${probeLimit} is allowed.`,
      );
      throw this.#failed;
    } finally {
      await sampler.close();
    }
  }

  async #sample(
    { model, sampler }: { readonly model: ModelId; readonly sampler: Sampler },
    request: SampleRequest,
    { signal, onTokens }: SampleOptions,
  ): Promise<SampleResult> {
    await this.#proven(model);
    // Tokens that arrive while weights are proved may be of the new ones.
    const held: SampledChunk[] = [];
    const deliver = (chunk: SampledChunk): void => {
      if (this.#proving === undefined && held.length === 0) onTokens?.(chunk);
      else held.push(chunk);
    };
    this.#isAsleep = false;
    this.#running++;
    const sampling = sampler.sample(request, {
      ...defined({ signal }),
      ...(onTokens === undefined ? {} : { onTokens: deliver }),
    });
    const result = await sampling.finally(() => this.#running--);
    await this.#proven(model);
    for (const chunk of held) onTokens?.(chunk);
    return result;
  }

  /** Waits for the end of an update. Rejects if a probe has failed. */
  async #ready(): Promise<void> {
    while (this.#proving !== undefined) await this.#proving;
    if (this.#failed !== undefined) throw this.#failed;
  }

  /** The same, and rejects if the sampler has weights that no probe has proved. */
  async #proven(model: ModelId): Promise<void> {
    await this.#ready();
    if (this.#proved?.model === model) return;
    throw new MrlmError("SAMPLER_UNAVAILABLE", `The sampler has no proved weights of "${model}".`);
  }
}

import type {
  EngineUnit,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  ModelId,
  OptimStepOptions,
  OptimStepResult,
  OutputSelection,
  UnitOutputs,
} from "@mrlm/spec";
import type {
  AverageOptions,
  CreatedModel,
  CreateModelOptions,
  Engine,
  EngineInfo,
  InFlight,
  LoadOptions,
  MemoryEstimate,
  MemoryWorkload,
  ModelInfo,
  PublishResult,
  Sampler,
} from "@mrlm/spec/host";
import {
  createModelCodec,
  engineInfoCodec,
  estimateMemoryCodec,
  modelInfoCodec,
  optimStepCodec,
  samplerInfoCodec,
  decodeFiles,
  inFlightCodec,
  ENGINE_SERVICE,
  fromInt64,
  SAMPLER_SERVICE,
} from "@mrlm/wire";
import type { EngineConnection } from "./engine-connection.ts";
import { remoteForward, remoteForwardBackward } from "./passes.ts";
import { RemoteSampler } from "./remote-sampler.ts";
import type { SamplerPool } from "./sampler-pool.ts";

/** Engine in another process. Calls that change state are numbered and made one after the other. */
export class RemoteEngine implements Engine {
  readonly #connection: EngineConnection;
  readonly #pool: SamplerPool | undefined;
  readonly #samplers = new Set<RemoteSampler>();
  readonly #isDeterministic: boolean;
  #lastCall: bigint;
  #tail: Promise<unknown> = Promise.resolve();

  /**
   * @param info.lastCall the highest call number that the engine has applied
   * @param pool samplers beside the engine's own
   */
  constructor(
    connection: EngineConnection,
    { lastCall, deterministic }: { readonly lastCall: bigint; readonly deterministic: boolean },
    pool?: SamplerPool,
  ) {
    this.#pool = pool;
    this.#connection = connection;
    this.#isDeterministic = deterministic;
    this.#lastCall = lastCall;
  }

  async describe(): Promise<EngineInfo> {
    return engineInfoCodec.decode(await this.#connection.unary(ENGINE_SERVICE.describe, {}));
  }

  async estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate> {
    return estimateMemoryCodec.response.decode(
      await this.#connection.unary(ENGINE_SERVICE.estimateMemory, estimateMemoryCodec.request.encode(workload)),
    );
  }

  createModel(options: CreateModelOptions): Promise<CreatedModel> {
    return this.#numbered(async (call) =>
      createModelCodec.response.decode(
        await this.#connection.unary(ENGINE_SERVICE.createModel, createModelCodec.request.encode(options, call)),
      ),
    );
  }

  releaseModel(model: ModelId): Promise<void> {
    return this.#numbered(
      async (call) => void (await this.#connection.unary(ENGINE_SERVICE.releaseModel, { call, modelId: model })),
    );
  }

  average({ model, of, decay }: AverageOptions): Promise<void> {
    return this.#numbered(
      async (call) => void (await this.#connection.unary(ENGINE_SERVICE.average, { call, modelId: model, of, decay })),
    );
  }

  async readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    const { files } = await this.#connection.unary(SAMPLER_SERVICE.readTokenizer, { modelId: model });
    return decodeFiles(files);
  }

  async sampler(model: ModelId): Promise<Sampler> {
    const link = this.#pool?.linkOf(model, this.#connection) ?? this.#connection;
    const sampler: RemoteSampler = new RemoteSampler(link, model, {
      isDeterministic: this.#isDeterministic,
      onClose: () => this.#samplers.delete(sampler),
    });
    this.#samplers.add(sampler);
    return sampler;
  }

  forward(options: {
    readonly model: ModelId;
    readonly units: readonly EngineUnit[];
    readonly outputs: OutputSelection;
    readonly temperature?: number;
    readonly signal?: AbortSignal;
  }): Promise<readonly UnitOutputs[]> {
    return this.#learning(() => remoteForward(this.#connection, options));
  }

  forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult> {
    // Its place in the order of the calls is that of this one.
    return this.#numbered((call) => this.#learning(() => remoteForwardBackward(this.#connection, options, call)));
  }

  optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#numbered(async (call) =>
      optimStepCodec.response.decode(
        await this.#connection.unary(ENGINE_SERVICE.optimStep, optimStepCodec.request.encode(options, call)),
      ),
    );
  }

  publish(model: ModelId, inFlight: InFlight = "recompute"): Promise<PublishResult> {
    return this.#numbered(async (call) => {
      const response = await this.#connection.unary(ENGINE_SERVICE.publish, {
        call,
        modelId: model,
        inFlight: inFlightCodec.encode(inFlight),
      });
      const { checksum, seconds } = response;
      const version = fromInt64(response.version, "a weight version");
      this.#pool?.published({ model, version, checksum, inFlight });
      return { version, checksum, seconds };
    });
  }

  async writeWeights(
    model: ModelId,
    directory: string,
    { untied = false }: { readonly untied?: boolean } = {},
  ): Promise<Pick<PublishResult, "version" | "checksum">> {
    const request = { modelId: model, directory, untied };
    const { version, checksum } = await this.#connection.unary(ENGINE_SERVICE.writeWeights, request);
    return { version: fromInt64(version, "a weight version"), checksum };
  }

  save(directory: string): Promise<{ readonly bytes: number; readonly checksum: string }> {
    return this.#numbered(async (call) => {
      const { bytes, checksum } = await this.#connection.unary(ENGINE_SERVICE.save, { call, directory, modelIds: [] });
      return { bytes: fromInt64(bytes, "a checkpoint's size"), checksum };
    });
  }

  load(
    directory: string,
    { microBatchTokens, gradientCheckpointing }: LoadOptions = {},
  ): Promise<readonly ModelInfo[]> {
    return this.#numbered(async (call) => {
      const { models, lastCall } = await this.#connection.unary(ENGINE_SERVICE.load, {
        call,
        directory,
        microBatchTokens,
        gradientCheckpointing,
      });
      if (lastCall > this.#lastCall) this.#lastCall = lastCall;
      const infos = models.map(modelInfoCodec.decode);
      await this.#announce(infos);
      return infos;
    });
  }

  export(
    model: ModelId,
    directory: string,
    options: { readonly mergeAdapter?: boolean } = {},
  ): Promise<readonly string[]> {
    return this.#numbered(
      async (call) =>
        (
          await this.#connection.unary(ENGINE_SERVICE.export, {
            call,
            modelId: model,
            directory,
            mergeAdapter: options.mergeAdapter ?? false,
          })
        ).files,
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#samplers].map((sampler) => sampler.close()));
    this.#connection.close();
  }

  /** Sends the published weights of a checkpoint to the samplers: nothing publishes them again. */
  async #announce(restored: readonly ModelInfo[]): Promise<void> {
    if (this.#pool === undefined) return;
    const { models } = samplerInfoCodec.decode(await this.#connection.unary(SAMPLER_SERVICE.describe, {}));
    for (const weights of models)
      if (restored.some(({ model, version }) => model === weights.model && version > 0))
        this.#pool.published({ ...weights, inFlight: "recompute" });
  }

  /** Runs a pass of the trainer, for which samplers beside it release their memory. */
  async #learning<T>(pass: () => Promise<T>): Promise<T> {
    await this.#pool?.sleep();
    return await pass();
  }

  #numbered<T>(make: (call: bigint) => Promise<T>): Promise<T> {
    const result = this.#tail.then(() => make(++this.#lastCall));
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

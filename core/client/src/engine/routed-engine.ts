import {
  type ForwardBackwardOptions,
  type ForwardBackwardResult,
  type ModelId,
  MrlmError,
  type OptimStepOptions,
  type OptimStepResult,
  type UnitOutputs,
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
  Trainer,
} from "@mrlm/spec/host";
import { readParts, saveParts } from "./routed-checkpoint.ts";

/** One of several engines, with its models. */
export interface EngineRoute {
  /** Unique name, which is also that of a directory in checkpoints. */
  readonly name: string;
  readonly engine: Engine;
  /** Ids of the models that are created here. Copies of them are created here too. */
  readonly models: readonly ModelId[];
  /** Memory of the engine's device. Engines with an equal one share it, so that their models are estimated together; default: memory of its own. */
  readonly memory?: string;
}

/**
 * Joins several engines behind one. Each model is on one engine: that whose route names it, else that of the model of which it is a copy, else the first. Every
 * call goes to the engine of its model; calls on different engines run at the same time. The loss of one engine is the loss of all.
 */
export function routedEngine(routes: readonly EngineRoute[]): Engine {
  return new RoutedEngine(routes);
}

class RoutedEngine implements Engine {
  readonly #routes: readonly EngineRoute[];
  readonly #first: EngineRoute;
  /** Route on which a model was found or created. */
  readonly #places = new Map<ModelId, EngineRoute>();

  constructor(routes: readonly EngineRoute[]) {
    const [first] = routes;
    if (first === undefined) throw new MrlmError("OPTIONS_INVALID", "There is no engine to join.");
    this.#routes = routes;
    this.#first = first;
  }

  async describe(): Promise<EngineInfo> {
    const infos = await Promise.all(this.#routes.map(({ engine }) => engine.describe()));
    this.#places.clear();
    // Two engines that keep running may hold a model of one id from different runs: the routes decide.
    const models = infos.flatMap((info, i) =>
      info.models.map((model) => ({ model, route: this.#routes[i] as EngineRoute })),
    );
    for (const { model, route } of models)
      if (!this.#places.has(model.model) || this.#named(model.model) === route) this.#places.set(model.model, route);
    const held = models.filter(({ model, route }) => this.#places.get(model.model) === route);
    return joinEngineInfos(
      infos,
      held.map(({ model }) => model),
    );
  }

  async estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate> {
    await this.describe();
    const planned = new Map<ModelId, EngineRoute>();
    for (const options of workload.models) planned.set(options.model, this.#routeOf(options, planned));
    const { assumedDevices } = workload;
    const devices = Map.groupBy(new Set(planned.values()), ({ name, memory }) => memory ?? `only ${name}`);
    return joinEstimates(
      await Promise.all(
        Array.from(devices.values(), async (routes) => {
          const isHere = (model: ModelId): boolean => routes.includes(planned.get(model) ?? this.#first);
          const estimate = await (routes[0] as EngineRoute).engine.estimateMemory({
            ...workload,
            models: workload.models.filter(({ model }) => isHere(model)),
            ...(workload.sampledModels === undefined ? {} : { sampledModels: workload.sampledModels.filter(isHere) }),
            // Ranks are of the main engine.
            ...(assumedDevices !== undefined &&
              !routes.includes(this.#first) && { assumedDevices: { ...assumedDevices, ranks: 1 } }),
          });
          const names = routes.map(({ name }) => name).join(" and ");
          return { engine: `engine${routes.length > 1 ? "s" : ""} ${names}`, estimate };
        }),
      ),
    );
  }

  async createModel(options: CreateModelOptions): Promise<CreatedModel> {
    const { source } = options;
    // The place of a model that another process has created.
    if ("of" in source && !this.#places.has(source.of)) await this.describe();
    const route = this.#routeOf(options, this.#places);
    const created = await route.engine.createModel(options);
    this.#places.set(options.model, route);
    return created;
  }

  /** Releases the model on each engine that holds it. */
  async releaseModel(model: ModelId): Promise<void> {
    const infos = await Promise.all(this.#routes.map(({ engine }) => engine.describe()));
    const holders = this.#routes.filter((_, i) => infos[i]?.models.some((each) => each.model === model));
    if (holders.length === 0) return await this.#first.engine.releaseModel(model);
    for (const { engine } of holders) await engine.releaseModel(model);
    this.#places.delete(model);
  }

  readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>> {
    return this.#on(model, (engine) => engine.readTokenizer(model));
  }

  sampler(model: ModelId): Promise<Sampler> {
    return this.#on(model, (engine) => engine.sampler(model));
  }

  forward(options: Parameters<Trainer["forward"]>[0]): Promise<readonly UnitOutputs[]> {
    return this.#on(options.model, (engine) => engine.forward(options));
  }

  forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult> {
    return this.#on(options.model, (engine) => engine.forwardBackward(options));
  }

  optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#on(options.model, (engine) => engine.optimStep(options));
  }

  /** Rejects with OPTIONS_INVALID for models on two engines. */
  async average(options: AverageOptions): Promise<void> {
    await this.describe();
    const { model, of } = options;
    const [route, other] = [this.#places.get(model) ?? this.#first, this.#places.get(of)];
    if (other === undefined || other === route) return await route.engine.average(options);
    throw new MrlmError("OPTIONS_INVALID", `"${model}" is to follow "${of}", and they are on two engines.`, {
      hint: "Leave the model out of `engines`: a copy is where its original does.",
    });
  }

  publish(model: ModelId, inFlight?: InFlight): Promise<PublishResult> {
    return this.#on(model, (engine) => engine.publish(model, inFlight));
  }

  writeWeights(
    model: ModelId,
    directory: string,
    options?: { readonly untied?: boolean },
  ): Promise<Pick<PublishResult, "version" | "checksum">> {
    return this.#on(model, (engine) => engine.writeWeights(model, directory, options));
  }

  async save(directory: string): Promise<{ readonly bytes: number; readonly checksum: string }> {
    await this.describe();
    return await saveParts(
      directory,
      this.#routes.map(({ name, engine }) => ({
        name,
        models: [...this.#places].filter(([, route]) => route.engine === engine).map(([model]) => model),
        save: (path) => engine.save(path),
      })),
    );
  }

  async load(directory: string, options?: LoadOptions): Promise<readonly ModelInfo[]> {
    const parts = await readParts(directory);
    const routes = parts.map(({ name, models }) => {
      const route = this.#routes.find((each) => each.name === name);
      const other = models.find((model) => (this.#named(model) ?? route) !== route);
      if (route !== undefined && other === undefined) return route;
      throw new MrlmError(
        "CHECKPOINT_MISMATCH",
        route === undefined
          ? `${directory} has models of the engine "${name}" (${models.join(", ")}), which the run does not have.`
          : `${directory} has the model "${other}" on the engine "${name}", and the run has it on another one.`,
        { hint: "Put `engines` of the run's configuration back." },
      );
    });
    const infos = await Promise.all(parts.map(({ path }, i) => (routes[i] as EngineRoute).engine.load(path, options)));
    infos.forEach((loaded, i) => {
      for (const { model } of loaded) this.#places.set(model, routes[i] as EngineRoute);
    });
    return infos.flat();
  }

  export(model: ModelId, directory: string, options?: { readonly mergeAdapter?: boolean }): Promise<readonly string[]> {
    return this.#on(model, (engine) => engine.export(model, directory, options));
  }

  async close(): Promise<void> {
    await Promise.all(this.#routes.map(({ engine }) => engine.close()));
  }

  /** Calls the engine of a model; at once where it is known, so that calls keep their order. */
  #on<T>(model: ModelId, call: (engine: Engine) => Promise<T>): Promise<T> {
    const known = this.#places.get(model);
    if (known !== undefined) return call(known.engine);
    // The first engine refuses a model that no engine holds.
    return this.describe().then(() => call((this.#places.get(model) ?? this.#first).engine));
  }

  #named(model: ModelId): EngineRoute | undefined {
    return this.#routes.find(({ models }) => models.includes(model));
  }

  /** Throws OPTIONS_INVALID for a copy that would not be where its original is. */
  #routeOf({ model, source }: CreateModelOptions, places: ReadonlyMap<ModelId, EngineRoute>): EngineRoute {
    const named = this.#named(model);
    if (!("of" in source)) return named ?? this.#first;
    const original = places.get(source.of) ?? this.#places.get(source.of) ?? this.#first;
    if (named === undefined || named === original) return original;
    throw new MrlmError(
      "OPTIONS_INVALID",
      `"${model}" is a copy of "${source.of}" and cannot be created on the engine "${named.name}": its original is on "${original.name}".`,
      { hint: "Leave it out of `engines`, or give it a directory of its own." },
    );
  }
}

/** Estimate of the engines that share one device. */
interface DeviceEstimate {
  readonly engine: string;
  readonly estimate: MemoryEstimate;
}

/** Returns the estimate of the device with the smallest token budget, with those of the others. */
function joinEstimates(devices: readonly DeviceEstimate[]): MemoryEstimate {
  const named = devices.map(({ engine, estimate }) => ({ ...estimate, engine }));
  const [tightest, ...others] = named.toSorted((one, other) => allowance(one) - allowance(other));
  return { ...(tightest as MemoryEstimate), ...(others.length === 0 ? {} : { others }) };
}

/** A budget that need not be lowered binds nothing. */
function allowance({ microBatchTokens, wantedTokens }: MemoryEstimate): number {
  return microBatchTokens < wantedTokens ? microBatchTokens : Number.MAX_SAFE_INTEGER;
}

/** Returns the description of several engines that act as one. Memory, seconds, threads and processes are sums. */
function joinEngineInfos(infos: readonly EngineInfo[], models: readonly ModelInfo[]): EngineInfo {
  const texts = (of: (info: EngineInfo) => string): string => [...new Set(infos.map(of))].join(", ");
  const sum = (of: (info: EngineInfo) => number): number => infos.reduce((total, info) => total + of(info), 0);
  return {
    device: texts(({ device }) => device),
    deviceName: texts(({ deviceName }) => deviceName),
    versions: {
      torch: texts(({ versions }) => versions.torch),
      transformers: texts(({ versions }) => versions.transformers),
      python: texts(({ versions }) => versions.python),
    },
    deterministic: infos.every(({ deterministic }) => deterministic),
    threads: sum(({ threads }) => threads),
    worldSize: sum(({ worldSize }) => worldSize),
    instanceId: infos.map(({ instanceId }) => instanceId).join("+"),
    memory: {
      allocatedBytes: sum(({ memory }) => memory.allocatedBytes),
      peakBytes: sum(({ memory }) => memory.peakBytes),
    },
    computeSeconds: sum(({ computeSeconds }) => computeSeconds),
    models,
  };
}

import {
  type FrozenModel,
  type LoadedModel,
  loadedModel,
  loadFrozen,
  type PluginHost,
  policyOptions,
  type ResolvedConfig,
  trainedPolicy,
} from "@mrlm/runtime";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { EngineInfo, SamplerHost } from "@mrlm/spec/host";
import { assertEngineInstalled, openEngine } from "./engine.ts";

/** Properties of the engine of a session. */
export interface SessionEngine {
  readonly deterministic: boolean;
  readonly versions: Partial<EngineInfo["versions"]>;
}

/** Models of the engine that play in a session. */
interface SessionModels {
  readonly models: ReadonlyMap<ModelId, LoadedModel>;
  readonly engine: Pick<SamplerHost, "sampler">;
  readonly described: SessionEngine;
}

/** Starts an engine and loads the policy and its opponents. Where no model of an engine plays, nothing starts. */
export async function openModels(options: {
  /** Whether the policy is a model of the engine. */
  readonly needsPolicy: boolean;
  readonly config: ResolvedConfig;
  readonly frozen: readonly FrozenModel[];
  readonly plugins: PluginHost;
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
  /** Adds a function that ends a part of the session. */
  readonly closeLater: (stop: () => Promise<void>) => void;
}): Promise<SessionModels> {
  const { needsPolicy, config, frozen, plugins, signal, note, closeLater } = options;
  if (!needsPolicy && frozen.length === 0) return { models: new Map(), engine: NO_ENGINE, described: NO_MODELS };
  await assertEngineInstalled(config, plugins);
  if (config.engine.address === undefined) note("starting the engine (loading torch)");
  // Playing needs no second machine.
  const { engine, isShared, stop } = await openEngine({
    config: { ...config, distributed: { ...config.distributed, nnodes: 1 } },
    plugins,
    logDirectory: undefined,
    signal,
  });
  closeLater(stop);
  const models = new Map<ModelId, LoadedModel>();
  const hold = (model: ModelId, loaded: LoadedModel): void => {
    if (isShared) closeLater(() => engine.releaseModel(model));
    models.set(model, loaded);
  };
  if (needsPolicy) {
    const { info, tokenizerFiles } = await engine.createModel({ ...policyOptions(config), trainable: false });
    hold(info.model, loadedModel(tokenizerFiles, info, trainedPolicy(config).model.tool_format));
  }
  const policies = new Map(models);
  for (const [model, loaded] of await loadFrozen(engine, frozen, { config, policies })) hold(model, loaded);
  return { models, engine, described: await engine.describe() };
}

const NO_MODELS: SessionEngine = { deterministic: false, versions: {} };
const NO_ENGINE: Pick<SamplerHost, "sampler"> = {
  sampler: async (model) => {
    throw new MrlmError("MODEL_NOT_FOUND", `The session has no engine, and the model ${model} was to play.`);
  },
};

import type { ModelId } from "@mrlm/spec";
import type { ModelInfo, Trainer } from "@mrlm/spec/host";
import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { type FrozenModel, frozenOptions } from "../players/frozen-models.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { type LoadedModel, loadedModel } from "./loaded-model.ts";

/** Frozen models of the run of which the engine has loaded a checkpoint. */
interface RestoredModels {
  /** Stores the tokenizers. */
  readonly run: RunDirectory;
  /** Directories of the restored models, by id. */
  readonly restored: Readonly<Record<ModelId, string>>;
}

/**
 * Creates the frozen models that play. Those of a checkpoint are kept, so that later changes of their directories have no effect on the run. Another
 * player of an evaluation, which a resumed run may have, replaces the model of the checkpoint.
 */
export async function loadFrozen(
  engine: Trainer,
  frozen: readonly FrozenModel[],
  { config, policies }: { readonly config: ResolvedConfig; readonly policies: ReadonlyMap<ModelId, LoadedModel> },
  from?: RestoredModels,
): Promise<ReadonlyMap<ModelId, LoadedModel>> {
  const restored = Object.entries(from?.restored ?? {});
  const isKept = ({ model, path }: FrozenModel): boolean => from?.restored[model] === path;
  const { models } = restored.length === 0 ? { models: [] } : await engine.describe();
  for (const [model, path] of restored)
    if (!frozen.some((each) => each.model === model && each.path === path)) await engine.releaseModel(model);
  const loaded = new Map<ModelId, LoadedModel>();
  for (const each of frozen) {
    const info = models.find(({ model }) => model === each.model);
    if (info !== undefined && from !== undefined && isKept(each)) {
      loaded.set(each.model, frozenModel(from.run.readTokenizer(each.model), info, config, policies));
      continue;
    }
    const created = await engine.createModel(frozenOptions(each, config));
    from?.run.writeTokenizer(created.tokenizerFiles, each.model);
    loaded.set(each.model, frozenModel(created.tokenizerFiles, created.info, config, policies));
  }
  return loaded;
}

/** Returns a frozen model. `tool_format` and `merge_messages` of a trained model are also those of frozen models with the same tokenizer and chat template. */
function frozenModel(
  tokenizerFiles: Readonly<Record<string, Uint8Array>>,
  info: ModelInfo,
  config: ResolvedConfig,
  policies: ReadonlyMap<ModelId, LoadedModel>,
): LoadedModel {
  for (const { policy, model } of trainedPolicies(config)) {
    const like = loadedModel(tokenizerFiles, info, model);
    if (like.renderer.fingerprint === policies.get(policy)?.renderer.fingerprint) return like;
  }
  return loadedModel(tokenizerFiles, info);
}

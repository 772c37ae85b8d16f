import type { Engine, ModelId } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { type FrozenModel, frozenOptions } from "../players/frozen-models.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { type LoadedModel, loadedModel } from "./loaded-model.ts";

/**
 * Creates the frozen models that play. Checkpoints hold them, so that a resumed run needs their directories no more: those that the engine has restored
 * are kept.
 * @param run stores their tokenizers; absent: nothing is resumed
 */
export async function loadFrozen(
  engine: Engine,
  frozen: readonly FrozenModel[],
  config: ResolvedConfig,
  run?: RunDirectory,
): Promise<ReadonlyMap<ModelId, LoadedModel>> {
  const { models } = frozen.length === 0 ? { models: [] } : await engine.describe();
  const loaded = new Map<ModelId, LoadedModel>();
  for (const each of frozen) {
    const restored = models.find(({ model }) => model === each.model);
    if (restored !== undefined && run !== undefined) {
      loaded.set(each.model, loadedModel(run.readTokenizer(each.model), restored));
      continue;
    }
    const { info, tokenizerFiles } = await engine.createModel(frozenOptions(each, config));
    run?.writeTokenizer(tokenizerFiles, each.model);
    loaded.set(each.model, loadedModel(tokenizerFiles, info));
  }
  return loaded;
}

import { type Engine, type LoadOptions, type ModelId, MrlmError } from "@mrlm/spec";
import { trainedPolicy } from "../config/policies.ts";
import type { Checkpoint } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { type LoadedModel, loadedModel } from "./loaded-model.ts";
import { checkMemory } from "./memory-check.ts";
import { policyOptions } from "../prepare/model-source.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { estimateRun, type RunMemory } from "./run-memory.ts";
import type { PublishedWeights } from "./watched-engine.ts";

/** Trained model, created in the engine and ready to sample. */
export interface LoadedPolicy extends LoadedModel {
  /** Models restored from a checkpoint. */
  readonly restored: ReadonlySet<ModelId>;
  /** Publication of a new model's weights; absent for a model of a checkpoint. */
  readonly published?: PublishedWeights;
  /** Token budget of trained models where the memory estimate requires a lower one than the default. */
  readonly microBatchTokens?: number;
}

/** Event emitted while the policy is loaded. */
export type LoadEvent =
  /** Memory estimate of the run, emitted before any model is created. */
  { readonly kind: "memory"; readonly memory: RunMemory } | { readonly kind: "notice"; readonly text: string };

/**
 * Creates the policy by the configuration, or restores it with everything else of a checkpoint. Emits the memory estimate before.
 * A checkpoint has its own token budgets, so that a resumed run computes the same bits.
 * @param options.changed options that differ from those of the checkpoint
 */
export async function loadPolicy(
  engine: Engine,
  prepared: PreparedRun,
  run: RunDirectory,
  checkpoint: Checkpoint | undefined,
  { changed, onEvent }: { readonly changed: LoadOptions; onEvent(event: LoadEvent): void },
): Promise<LoadedPolicy> {
  const { config, stages } = prepared;
  const { policy: trained, model } = trainedPolicy(config);
  // An engine that was not started for this run may still hold models of a killed one.
  await releaseModels(engine);
  const memory = config.engine.check_memory ? await estimateRun(engine, prepared) : undefined;
  if (memory !== undefined) onEvent({ kind: "memory", memory });
  if (checkpoint !== undefined) {
    const models = await engine.load(checkpoint.engineDirectory, changed);
    const info = models.find((each) => each.model === trained);
    if (info === undefined)
      throw new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${checkpoint.path} holds no policy.`);
    return {
      ...loadedModel(run.readTokenizer(), info, model.tool_format),
      restored: new Set(models.map((each) => each.model)),
    };
  }
  const lowered = memory === undefined ? undefined : checkMemory(memory, config);
  if (lowered !== undefined) onEvent({ kind: "notice", text: lowered.notice });
  const budget = lowered === undefined ? {} : { microBatchTokens: lowered.microBatchTokens };
  const valueHead = stages.some(({ definition, options }) => definition.needsValueHead?.(options));
  const { info, tokenizerFiles } = await engine.createModel({
    ...policyOptions(config),
    ...(valueHead ? { valueHead } : {}),
    ...budget,
  });
  run.writeTokenizer(tokenizerFiles);
  const policy = loadedModel(tokenizerFiles, info, model.tool_format);
  const { version, checksum } = await engine.publish(info.model);
  return { ...policy, restored: new Set(), published: { version, checksum }, ...budget };
}

/** Releases every model, dependents first. */
export async function releaseModels(engine: Engine): Promise<void> {
  const { models } = await engine.describe();
  for (const { model } of models.toReversed()) await engine.releaseModel(model);
}

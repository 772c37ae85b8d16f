import { type ModelId, MrlmError, type PolicyId } from "@mrlm/spec";
import type { LoadOptions, Trainer } from "@mrlm/spec/host";
import { trainedPolicies } from "../config/policies.ts";
import type { Checkpoint } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { type LoadedModel, loadedModel } from "./loaded-model.ts";
import { checkMemory } from "./memory-check.ts";
import { policyOptions } from "../prepare/model-source.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { estimateRun, needsValueHead, type RunMemory } from "./run-memory.ts";
import type { PublishedWeights } from "./engine-views.ts";

/** Trained models, created in the engine and ready to sample. */
export interface LoadedPolicies {
  readonly models: ReadonlyMap<PolicyId, LoadedModel>;
  /** Models restored from a checkpoint. */
  readonly restored: ReadonlySet<ModelId>;
  /** Publications of the weights of new models; none for models of a checkpoint. */
  readonly published: Readonly<Record<PolicyId, PublishedWeights>>;
  /** Token budget of trained models where the memory estimate requires a lower one than the default. */
  readonly microBatchTokens?: number;
}

/** Event emitted while policies are loaded. */
export type LoadEvent =
  /** Memory estimate of the run, emitted before any model is created. */
  { readonly kind: "memory"; readonly memory: RunMemory } | { readonly kind: "notice"; readonly text: string };

/**
 * Creates the policies by the configuration, or restores them with everything else of a checkpoint. Emits the memory estimate before.
 * A checkpoint has its own token budgets, so that a resumed run computes the same bits.
 * @param options.changed options that differ from those of the checkpoint
 */
export async function loadPolicies(
  engine: Trainer,
  prepared: PreparedRun,
  run: RunDirectory,
  checkpoint: Checkpoint | undefined,
  { changed, onEvent }: { readonly changed: LoadOptions; onEvent(event: LoadEvent): void },
): Promise<LoadedPolicies> {
  const { config, stages } = prepared;
  // An engine that was not started for this run may still hold models of a killed one.
  await releaseModels(engine);
  const memory = config.engine.check_memory ? await estimateRun(engine, prepared) : undefined;
  if (memory !== undefined) onEvent({ kind: "memory", memory });
  if (checkpoint !== undefined) return await restorePolicies(engine, prepared, run, checkpoint, changed);
  const lowered = memory === undefined ? undefined : checkMemory(memory, config);
  if (lowered !== undefined) onEvent({ kind: "notice", text: lowered.notice });
  const budget = lowered === undefined ? {} : { microBatchTokens: lowered.microBatchTokens };
  const models = new Map<PolicyId, LoadedModel>();
  const published: Record<PolicyId, PublishedWeights> = {};
  for (const { policy, model } of trainedPolicies(config)) {
    const stated = model.micro_batch_tokens ?? Number.POSITIVE_INFINITY;
    const { info, tokenizerFiles } = await engine.createModel({
      ...policyOptions(config, policy),
      ...(needsValueHead(stages, policy) ? { valueHead: true } : {}),
      ...(lowered === undefined ? {} : { microBatchTokens: Math.min(stated, lowered.microBatchTokens) }),
    });
    run.writeTokenizer(tokenizerFiles, tokenizerOwner(prepared, policy));
    models.set(policy, loadedModel(tokenizerFiles, info, model));
    const { version, checksum } = await engine.publish(policy);
    published[policy] = { version, checksum };
  }
  return { models, restored: new Set(), published, ...budget };
}

async function restorePolicies(
  engine: Trainer,
  prepared: PreparedRun,
  run: RunDirectory,
  checkpoint: Checkpoint,
  changed: LoadOptions,
): Promise<LoadedPolicies> {
  const infos = await engine.load(checkpoint.engineDirectory, changed);
  const models = new Map<PolicyId, LoadedModel>();
  for (const { policy, model } of trainedPolicies(prepared.config)) {
    const info = infos.find((each) => each.model === policy);
    if (info === undefined)
      throw new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${checkpoint.path} holds no policy "${policy}".`);
    models.set(policy, loadedModel(run.readTokenizer(tokenizerOwner(prepared, policy)), info, model));
  }
  return { models, restored: new Set(infos.map((each) => each.model)), published: {} };
}

/** Returns the policy whose name the folder of the tokenizer has: none where there is one policy. */
export function tokenizerOwner({ config }: PreparedRun, policy: PolicyId): PolicyId | undefined {
  return trainedPolicies(config).length === 1 ? undefined : policy;
}

/** Releases every model, dependents first. */
export async function releaseModels(engine: Trainer): Promise<void> {
  const { models } = await engine.describe();
  for (const { model } of models.toReversed()) await engine.releaseModel(model);
}

import { chatRenderer } from "@mrlm/kit/renderer";
import { type Engine, type LoadOptions, type ModelId, type ModelInfo, MrlmError, type Renderer } from "@mrlm/spec";
import type { Checkpoint } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { checkMemory } from "./memory-check.ts";
import { policyOptions } from "./model-source.ts";
import type { PreparedRun } from "./prepare-run.ts";
import type { RunEvent } from "./run-events.ts";
import { estimateRun } from "./run-memory.ts";

/** The model that is trained, in the engine and ready to sample. */
export interface Policy {
  readonly info: ModelInfo;
  readonly renderer: Renderer;
  /** Models that a checkpoint has brought back. */
  readonly restored: ReadonlySet<ModelId>;
  /** Token budget of every model that learns, where memory asks for a lower one than it would have. */
  readonly microBatchTokens?: number;
}

/**
 * Makes the policy as the configuration says, or brings it back with everything else that a checkpoint holds. What it is going to take is told before;
 * a checkpoint has token budgets of its own, so that a continuation computes the same bits.
 * @param options.changed what the configuration says otherwise than the one that the checkpoint was written under
 */
export async function setUpPolicy(
  engine: Engine,
  prepared: PreparedRun,
  run: RunDirectory,
  checkpoint: Checkpoint | undefined,
  { changed, onEvent }: { readonly changed: LoadOptions; onEvent(event: RunEvent): void },
): Promise<Policy> {
  const { config, stages } = prepared;
  // An engine that was not started for this run may still hold what a killed one left.
  await releaseModels(engine);
  const memory = config.engine.check_memory ? await estimateRun(engine, prepared) : undefined;
  if (memory !== undefined) onEvent({ kind: "memory", memory });
  if (checkpoint !== undefined) {
    const models = await engine.load(checkpoint.engineDirectory, changed);
    const info = models.find(({ model }) => model === "policy");
    if (info === undefined)
      throw new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${checkpoint.path} holds no policy.`);
    return {
      info,
      renderer: rendererOf(run.readTokenizer(), info),
      restored: new Set(models.map(({ model }) => model)),
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
  const renderer = rendererOf(tokenizerFiles, info);
  if (renderer.vocabSize > info.vocabSize) {
    throw new MrlmError(
      "TOKENIZER_INVALID",
      `The tokenizer has ${renderer.vocabSize} tokens and the model ${info.vocabSize}: it could be shown tokens that it does not know.`,
      { hint: "Set vocab_size in the model's configuration to the tokenizer's size or more." },
    );
  }
  await engine.publish(info.model);
  return { info, renderer, restored: new Set(), ...budget };
}

/** Releases every model, those that depend on others first. */
export async function releaseModels(engine: Engine): Promise<void> {
  const { models } = await engine.describe();
  for (const { model } of models.toReversed()) await engine.releaseModel(model);
}

function rendererOf(tokenizerFiles: Readonly<Record<string, Uint8Array>>, { eosTokenIds }: ModelInfo): Renderer {
  return chatRenderer({ tokenizerFiles, eosTokenIds });
}

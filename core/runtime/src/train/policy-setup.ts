import { chatRenderer } from "@mrlm/kit";
import { type Engine, type LoadOptions, type ModelId, type ModelInfo, MrlmError, type Renderer } from "@mrlm/spec";
import type { Checkpoint } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { policyOptions } from "./model-source.ts";
import type { PreparedRun } from "./prepare-run.ts";

/** The model that is trained, in the engine and ready to sample. */
export interface Policy {
  readonly info: ModelInfo;
  readonly renderer: Renderer;
  /** Models that a checkpoint has brought back. */
  readonly restored: ReadonlySet<ModelId>;
}

/**
 * Makes the policy as the configuration says, or brings it back with everything else that a checkpoint holds.
 * @param memory what the configuration says otherwise than the one that the checkpoint was written under
 */
export async function setUpPolicy(engine: Engine, { config, stages }: PreparedRun, run: RunDirectory, checkpoint: Checkpoint | undefined, memory: LoadOptions): Promise<Policy> {
  // An engine that was not started for this run may still hold what a killed one left.
  const { models: leftBehind } = await engine.describe();
  for (const { model } of leftBehind.toReversed()) await engine.releaseModel(model);
  if (checkpoint !== undefined) {
    const models = await engine.load(checkpoint.engineDirectory, memory);
    const info = models.find(({ model }) => model === "policy");
    if (info === undefined) throw new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${checkpoint.path} holds no policy.`);
    return { info, renderer: rendererOf(run.readTokenizer(), info), restored: new Set(models.map(({ model }) => model)) };
  }
  const valueHead = stages.some(({ definition, options }) => definition.needsValueHead?.(options));
  const { info, tokenizerFiles } = await engine.createModel({ ...policyOptions(config), ...(valueHead ? { valueHead } : {}) });
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
  return { info, renderer, restored: new Set() };
}

function rendererOf(tokenizerFiles: Readonly<Record<string, Uint8Array>>, { eosTokenIds }: ModelInfo): Renderer {
  return chatRenderer({ tokenizerFiles, eosTokenIds });
}

import type { Engine, ModelId, ModelInfo } from "@mrlm/spec";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolved-config.ts";

/** Returns the id of the reference model of a stage. */
export function referenceId(index: number): ModelId {
  return `reference-${index}`;
}

/**
 * Returns the source of a stage's reference, which is the policy at the stage's beginning. In the first stage a new adapter is zero, so the policy with its
 * adapter off is the same model and takes no memory. In later stages, or with a loaded adapter, a copy is necessary.
 */
export function referenceKind(config: ResolvedConfig, index: number): "adapter-off" | "copy" {
  const { lora } = trainedPolicy(config).model;
  return lora !== undefined && lora.path === undefined && index === 0 ? "adapter-off" : "copy";
}

/** Creates the reference of a stage, or returns the restored one. */
export async function makeReference(
  engine: Engine,
  policy: ModelInfo,
  index: number,
  config: ResolvedConfig,
  restored: ReadonlySet<ModelId>,
): Promise<ModelId> {
  const model = referenceId(index);
  if (restored.has(model)) return model;
  await engine.createModel({
    model,
    role: "reference",
    source: { kind: referenceKind(config, index), of: policy.model },
    trainable: false,
  });
  return model;
}

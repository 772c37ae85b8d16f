import type { ModelId, ModelInfo, PolicyId, Trainer } from "@mrlm/spec";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolved-config.ts";

/** Returns the id of the reference model of a policy in a stage. */
export function referenceId(config: Pick<ResolvedConfig, "policies">, index: number, policy: PolicyId): ModelId {
  return `reference-${index}${ownSuffix(config, policy)}`;
}

/** Returns the end of the ids of a policy's other models: empty in a run with one policy. */
export function ownSuffix({ policies }: Pick<ResolvedConfig, "policies">, policy: PolicyId): string {
  return Object.keys(policies).length === 1 ? "" : `-${policy}`;
}

/**
 * Returns the source of a stage's reference, which is the policy at the stage's beginning. In the first stage a new adapter is zero, so the policy with its
 * adapter off is the same model and takes no memory. In later stages, or with a loaded adapter, a copy is necessary.
 */
export function referenceKind(config: ResolvedConfig, index: number, policy: PolicyId): "adapter-off" | "copy" {
  const { lora } = trainedPolicy(config, policy).model;
  return lora !== undefined && lora.path === undefined && index === 0 ? "adapter-off" : "copy";
}

/** Creates the reference of a stage, or returns the restored one. */
export async function makeReference(
  engine: Trainer,
  policy: ModelInfo,
  index: number,
  config: ResolvedConfig,
  restored: ReadonlySet<ModelId>,
): Promise<ModelId> {
  const model = referenceId(config, index, policy.model);
  if (restored.has(model)) return model;
  await engine.createModel({
    model,
    role: "reference",
    source: { kind: referenceKind(config, index, policy.model), of: policy.model },
    trainable: false,
  });
  return model;
}

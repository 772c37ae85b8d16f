import { type AlgorithmContext, type ModelId, MrlmError } from "@mrlm/kit/learning";
import type { PpoOptions } from "./options.ts";

const CRITIC: ModelId = "critic";

/**
 * Returns the model that computes values, and creates it where needed. `separate`: a separate model, a trainable copy of the policy or loaded from a
 * directory, with a value head that is initialised with zeros; in a resumed run the checkpoint has restored it. `shared`: the policy, with a value head on
 * its backbone.
 */
export async function ensureCritic(
  context: AlgorithmContext,
  { critic, critic_path: path }: PpoOptions,
): Promise<ModelId> {
  const { engine, policy } = context;
  const { models } = await engine.describe();
  if (critic === "shared") {
    if (models.find(({ model }) => model === policy)?.hasValueHead === true) return policy;
    throw new MrlmError(
      "VALUE_HEAD_MISSING",
      `critic: shared needs a value head on the policy, and the model "${policy}" has none.`,
      {
        hint: "Create the policy with `valueHead: true`; `mrlm train` does this.",
      },
    );
  }
  if (models.some(({ model }) => model === CRITIC)) return CRITIC;
  const source = path === undefined ? ({ kind: "copy", of: policy } as const) : ({ kind: "directory", path } as const);
  await engine.createModel({ model: CRITIC, role: "critic", source, trainable: true, valueHead: true });
  return CRITIC;
}

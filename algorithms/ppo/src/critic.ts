import { type AlgorithmContext, type ModelId, MrlmError } from "@mrlm/spec";
import type { PpoOptions } from "./options.ts";

const CRITIC: ModelId = "critic";

/**
 * The model that says values. Separate: a model of its own, begun as a trainable copy of the policy or from a directory, with a value head that
 * is zero at first; a checkpoint has brought it back where the run is a continuation. Shared: the policy itself, by the value head on its trunk.
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
      `critic: shared needs a value head on the policy, and "${policy}" was made without one.`,
      {
        hint: "Create the policy with `valueHead: true`; `mrlm train` does so by itself.",
      },
    );
  }
  if (models.some(({ model }) => model === CRITIC)) return CRITIC;
  const source = path === undefined ? ({ kind: "copy", of: policy } as const) : ({ kind: "directory", path } as const);
  await engine.createModel({ model: CRITIC, role: "critic", source, trainable: true, valueHead: true });
  return CRITIC;
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlgorithmContext, ModelId } from "@mrlm/spec";

const CRITIC: ModelId = "critic";

/**
 * The critic: a model of its own with a value head that is zero at first, made as a trainable twin of the policy or from a directory. A checkpoint
 * has brought it back where the run is a continuation.
 */
export async function ensureCritic(context: AlgorithmContext, directory: string | undefined): Promise<ModelId> {
  const { engine, policy } = context;
  const { models } = await engine.describe();
  if (models.some(({ model }) => model === CRITIC)) return CRITIC;
  const create = (path: string) => engine.createModel({ model: CRITIC, role: "critic", source: { kind: "directory", path }, trainable: true, valueHead: true });
  if (directory !== undefined) {
    await create(directory);
    return CRITIC;
  }
  const temporary = await mkdtemp(join(tmpdir(), "mrlm-critic-"));
  try {
    const path = join(temporary, "model");
    const info = models.find(({ model }) => model === policy);
    const hasAdapter = info !== undefined && info.trainableParameters < info.parameters;
    await engine.export(policy, path, hasAdapter ? { mergeAdapter: true } : {});
    await create(path);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return CRITIC;
}

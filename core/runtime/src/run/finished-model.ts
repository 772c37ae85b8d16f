import { dirname } from "node:path";
import { trainedPolicies, type TrainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import type { RunDirectory } from "./run-directory.ts";

/** Returns the path of the trained model, or of the folder with those of several policies. */
export function finishedModel(run: RunDirectory, config: ResolvedConfig): string {
  const [{ policy }, ...others] = trainedPolicies(config) as [TrainedPolicy, ...TrainedPolicy[]];
  return others.length === 0 ? run.modelPath() : dirname(run.modelPath(policy));
}

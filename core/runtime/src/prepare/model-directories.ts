import type { PolicyId } from "@mrlm/spec";
import { type EnvironmentList, environmentPath } from "../config/environment-place.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedEnvironment, ResolvedLearner, ResolvedModel } from "../config/resolve-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import {
  type DirectoryFinder,
  directoryFinder,
  localDirectory,
  withFrozenDirectories,
} from "../players/frozen-directories.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { adapterDirectory } from "../run/model-directory.ts";

/** Returns the path of a trained model in the configuration's source: `model` or an entry of `policies`. */
export function policyPath({ source }: LoadedConfig, policy: PolicyId): ConfigPath {
  return valueAt(source.value, ["policies"]) === undefined ? ["model"] : ["policies", policy];
}

/**
 * Replaces runs and checkpoints that paths of models name by the directories of their models or adapters, so that later changes of those runs have no
 * effect on this one. Errors have the place in the configuration.
 */
export async function withModelDirectories(
  loaded: LoadedConfig,
  config: ResolvedConfig,
  onNotice: (text: string) => void,
): Promise<ResolvedConfig> {
  const found = directoryFinder(loaded, onNotice);
  const policies: Record<PolicyId, ResolvedModel> = {};
  for (const { policy, model } of trainedPolicies(config)) {
    const { path, lora, ...others } = model;
    const place = policyPath(loaded, policy);
    policies[policy] = {
      ...others,
      ...(path === undefined ? {} : { path: await found(path, [...place, "path"]) }),
      ...(lora === undefined
        ? {}
        : {
            lora:
              lora.path === undefined
                ? lora
                : { ...lora, path: adapterDirectory(await found(lora.path, [...place, "lora", "path"])) },
          }),
    };
  }
  const played = <E extends ResolvedEnvironment>(list: EnvironmentList, entries: readonly E[]): Promise<E[]> =>
    Promise.all(
      entries.map((entry, i) => withFrozenDirectories(entry, environmentPath(loaded, list, i), loaded, found)),
    );
  const stages = config.stages.map(async (stage, i) => {
    const learners = Object.entries(stage.learners).map(async ([policy, learner]) => {
      const place = loaded.learnerPath(i, policy, []);
      return [policy, await withLearnerDirectories(learner, place, loaded, found)] as const;
    });
    return { ...stage, learners: Object.fromEntries(await Promise.all(learners)) };
  });
  return {
    ...config,
    policies,
    stages: await Promise.all(stages),
    environments: await played("environments", config.environments),
    eval: { ...config.eval, environments: await played("eval.environments", config.eval.environments) },
  };
}

/** Replaces the paths of the models of a learner by the directories of their models. */
async function withLearnerDirectories(
  learner: ResolvedLearner,
  place: ConfigPath,
  loaded: LoadedConfig,
  found: DirectoryFinder,
): Promise<ResolvedLearner> {
  const { reference_model: reference } = learner;
  if (reference?.path === undefined) return learner;
  const path = await localDirectory(reference.path, [...place, "reference_model", "path"], loaded, found);
  return { ...learner, reference_model: { ...reference, path } };
}

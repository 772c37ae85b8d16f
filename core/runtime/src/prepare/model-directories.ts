import { MrlmError, type PolicyId } from "@mrlm/spec";
import type { StoredModel } from "@mrlm/spec/host";
import { isRemote } from "../config/engines.ts";
import { type EnvironmentList, environmentPath } from "../config/environment-place.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { at } from "../config/located.ts";
import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedEnvironment, ResolvedLearner, ResolvedModel } from "../config/resolve-config.ts";
import { isFetched } from "../config/sections/values.ts";
import type { ConfigPath } from "../config/source-text.ts";
import {
  type DirectoryFinder,
  directoryFinder,
  localDirectory,
  withFrozenPaths,
} from "../players/frozen-directories.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { adapterDirectory, type FetchModel } from "../run/model-directory.ts";

/** Returns the path of a trained model in the configuration's source: `model` or an entry of `policies`. */
export function policyPath({ source }: LoadedConfig, policy: PolicyId): ConfigPath {
  return valueAt(source.value, ["policies"]) === undefined ? ["model"] : ["policies", policy];
}

/**
 * Replaces runs and checkpoints that paths of models name by the directories of their models or adapters, so that later changes of those runs have no
 * effect on this one. Errors have the place in the configuration.
 */
export function withModelDirectories(
  loaded: LoadedConfig,
  config: ResolvedConfig,
  onNotice: (text: string) => void,
): Promise<ResolvedConfig> {
  const found = directoryFinder(loaded, onNotice);
  return withPaths(loaded, config, {
    trained: found,
    adapter: async (given, place) => adapterDirectory(await found(given, place)),
    other: (given, place) => localDirectory(given, place, loaded, found),
  });
}

/** Replaces models of the hub and GGUF files by the directories into which they are fetched or converted. Errors have the place in the configuration. */
export async function withStoredModels(loaded: LoadedConfig, fetch: FetchModel): Promise<LoadedConfig> {
  const models: Record<string, StoredModel> = {};
  const stored: DirectoryFinder = (given, place) =>
    at(loaded, place, async () => {
      if (!isFetched(given)) return given;
      if (isRemote(loaded.config))
        throw new MrlmError(
          "CONFIG_INVALID",
          `${given} would be fetched to this machine, and the engine reads the disk of its own.`,
          {
            hint: "Run `mrlm models get` on the machine of the engine, and name the directory that it prints.",
          },
        );
      models[given] ??= await fetch(given);
      return models[given].directory;
    });
  // One after the other, so that each has the line of progress for itself.
  let last: Promise<unknown> = Promise.resolve();
  const inOrder: DirectoryFinder = (given, place) => {
    const next = last.then(() => stored(given, place));
    last = next.catch(() => undefined);
    return next;
  };
  const config = await withPaths(loaded, loaded.config, { trained: inOrder, adapter: inOrder, other: inOrder });
  return Object.keys(models).length === 0 ? loaded : { ...loaded, config, models };
}

/** Replaces the paths of all models of a configuration: of trained ones, of their adapters, and of frozen ones. */
async function withPaths(
  loaded: LoadedConfig,
  config: ResolvedConfig,
  replace: Readonly<Record<"trained" | "adapter" | "other", DirectoryFinder>>,
): Promise<ResolvedConfig> {
  const policies: Record<PolicyId, ResolvedModel> = {};
  for (const { policy, model } of trainedPolicies(config)) {
    const { path, lora, ...others } = model;
    const place = policyPath(loaded, policy);
    policies[policy] = {
      ...others,
      ...(path === undefined ? {} : { path: await replace.trained(path, [...place, "path"]) }),
      ...(lora === undefined
        ? {}
        : {
            lora:
              lora.path === undefined
                ? lora
                : { ...lora, path: await replace.adapter(lora.path, [...place, "lora", "path"]) },
          }),
    };
  }
  const played = <E extends ResolvedEnvironment>(list: EnvironmentList, entries: readonly E[]): Promise<E[]> =>
    Promise.all(entries.map((entry, i) => withFrozenPaths(entry, environmentPath(loaded, list, i), replace.other)));
  const stages = config.stages.map(async (stage, i) => {
    const learners = Object.entries(stage.learners).map(async ([policy, learner]) => {
      const place = loaded.learnerPath(i, policy, []);
      return [policy, await withReferencePath(learner, place, replace.other)] as const;
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

/** Replaces the path of the reference model of a learner. */
async function withReferencePath(
  learner: ResolvedLearner,
  place: ConfigPath,
  replace: DirectoryFinder,
): Promise<ResolvedLearner> {
  const { reference_model: reference } = learner;
  if (reference?.path === undefined) return learner;
  const path = await replace(reference.path, [...place, "reference_model", "path"]);
  return { ...learner, reference_model: { ...reference, path } };
}

import type { JsonObject } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedConfig, ResolvedEnvironment, ResolvedLearner, ResolvedStage } from "../config/resolve-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import type { AlgorithmSource } from "../plugins/plugin-kinds.ts";
import { validateOptions } from "../plugins/standard-options.ts";
import { environmentPath } from "../config/environment-place.ts";

/** Drops options that a plugin does not have where the configuration asks for that, with a notice for each. */
export async function dropUnknownOptions(
  loaded: LoadedConfig,
  { host, algorithms }: { readonly host: EnvironmentHost; readonly algorithms: AlgorithmSource },
  onNotice: (text: string) => void,
): Promise<ResolvedConfig> {
  const { config, dropsUnknownOptions, source } = loaded;
  const without = (
    options: JsonObject,
    unknown: readonly string[],
    owner: string,
    pathOf: (key: string) => ConfigPath,
  ): JsonObject => {
    for (const key of unknown)
      onNotice(`${source.locate(pathOf(key), "key")}: ${key} has no effect: ${owner} has no such option.`);
    return Object.fromEntries(Object.entries(options).filter(([key]) => !unknown.includes(key)));
  };
  const adaptEnvironment = async <E extends ResolvedEnvironment>(environment: E, index: number): Promise<E> => {
    const description = await host.describe({ id: environment.id }).catch(() => undefined);
    const properties = description?.optionsJsonSchema?.["properties"];
    if (description === undefined || typeof properties !== "object" || properties === null) return environment;
    const unknown = Object.keys(environment.options).filter((key) => !Object.hasOwn(properties, key));
    const path = environmentPath(loaded, "environments", index);
    const options = without(environment.options, unknown, description.id, (key) => [...path, "options", key]);
    return { ...environment, options };
  };
  const adaptLearner = async (
    learner: ResolvedLearner,
    pathOf: (key: string) => ConfigPath,
  ): Promise<ResolvedLearner> => {
    const definition = await algorithms.algorithm(learner.algorithm).catch(() => undefined);
    const outcome = definition === undefined ? undefined : await validateOptions(definition.options, learner.options);
    if (definition === undefined || outcome === undefined || outcome.ok) return learner;
    const unknown = outcome.issues.flatMap((issue) => (issue.path.length === 0 ? (issue.unknownKeys ?? []) : []));
    return { ...learner, options: without(learner.options, unknown, definition.id, pathOf) };
  };
  const adaptStage = async (stage: ResolvedStage, index: number): Promise<ResolvedStage> => {
    const learners = await Promise.all(
      Object.entries(stage.learners).map(async ([policy, learner]) => [
        policy,
        await adaptLearner(learner, (key) => loaded.learnerPath(index, policy, [key])),
      ]),
    );
    return { ...stage, learners: Object.fromEntries(learners) };
  };
  const environments = dropsUnknownOptions.environments
    ? await Promise.all(config.environments.map(adaptEnvironment))
    : config.environments;
  const evaluated = dropsUnknownOptions.environments
    ? environments.map(({ weight: _, ...environment }) => environment)
    : config.eval.environments;
  const stages = dropsUnknownOptions.stages ? await Promise.all(config.stages.map(adaptStage)) : config.stages;
  return { ...config, environments, eval: { ...config.eval, environments: evaluated }, stages };
}

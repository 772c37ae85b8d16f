import { MAIN_ENGINE } from "../config/engines.ts";
import { configError, type ConfigProblem } from "../config/config-problems.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { referenceOptions } from "./reference-model.ts";
import { stageModels } from "./run-memory.ts";

/** Throws CONFIG_INVALID where `engines` names a model that the run does not have, or a copy apart from its original. */
export function checkRoutes(prepared: PreparedRun, { source }: Pick<LoadedConfig, "source">): void {
  const { engines = {} } = prepared.config;
  const models = new Map(
    prepared.stages.flatMap((stage, i) => stageModels(prepared, stage, i)).map((each) => [each.model, each]),
  );
  const engineOf = (model: string): string =>
    Object.entries(engines).find(([, { models: held }]) => held.includes(model))?.[0] ?? MAIN_ENGINE;
  const problems = Object.entries(engines).flatMap(([name, { models: held }]) =>
    held.flatMap((model, i): ConfigProblem[] => {
      const at = (text: string): ConfigProblem => ({ path: ["engines", name, "models", i], at: "value", text });
      const options = models.get(model);
      if (options === undefined)
        return [at(`the run has no model "${model}". Its models: ${[...models.keys()].join(", ")}`)];
      if (!("of" in options.source) || engineOf(options.source.of) === name) return [];
      return [
        at(
          `"${model}" is a copy of "${options.source.of}", so it is on the engine "${engineOf(options.source.of)}" too: leave it out, or give it a directory of its own`,
        ),
      ];
    }),
  );
  problems.push(...followingReferences(prepared, engineOf));
  if (problems.length > 0) throw configError(source, problems);
}

/** Finds references that follow a policy of another engine: their weights are made from those of the policy. */
function followingReferences({ config }: PreparedRun, engineOf: (model: string) => string): ConfigProblem[] {
  return config.stages.flatMap(({ learners }, i) =>
    Object.entries(learners).flatMap(([policy, { reference_model: reference }]): ConfigProblem[] => {
      const { model } = referenceOptions(config, i, policy);
      const isFollowing = reference?.ema !== undefined || reference?.reset_every !== undefined;
      if (!isFollowing || engineOf(model) === engineOf(policy)) return [];
      return [
        {
          path: ["engines", engineOf(model) === MAIN_ENGINE ? engineOf(policy) : engineOf(model)],
          at: "key",
          text: `"${model}" follows "${policy}" (reference_model), so both are on one engine`,
        },
      ];
    }),
  );
}

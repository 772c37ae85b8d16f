import type { EnvironmentDescription, EnvironmentRef, PolicyId, RolloutRequest } from "@mrlm/spec";
import { configError } from "../config/config-problems.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolved-config.ts";
import { environmentPath } from "../config/environment-place.ts";
import { directoryFinder, withFrozenDirectories } from "./frozen-directories.ts";
import { type FrozenModel, frozenModels } from "./frozen-models.ts";
import type { PlayerSource, ScriptSource } from "./player-source.ts";
import { resolvePlayers } from "./resolve-players.ts";

/**
 * Returns the players of an environment in which one model is measured. The model plays as the policy of the configuration, so that its episodes can be
 * learnt from.
 * @param environment with its entry in the configuration; without one the model plays every role
 * @param source id of the measured model, the environments of this process, and the policies of plugins
 */
export async function sessionPlayers(
  loaded: LoadedConfig,
  environment: {
    readonly ref: EnvironmentRef;
    readonly description: EnvironmentDescription;
    readonly known: ResolvedEnvironment | undefined;
  },
  {
    policy,
    scripts,
    policies,
  }: {
    readonly policy: PolicyId;
    readonly scripts: ScriptSource;
    readonly policies: PlayerSource["policies"];
  },
  onNotice: (text: string) => void,
): Promise<Pick<RolloutRequest, "players" | "sides"> & { readonly frozen: readonly FrozenModel[] }> {
  const { ref, description, known } = environment;
  if (known?.players === undefined) return { players: policy, frozen: [] };
  const { config, source } = loaded;
  const list = config.eval.environments.includes(known) ? "eval.environments" : "environments";
  const entries: readonly ResolvedEnvironment[] =
    list === "environments" ? config.environments : config.eval.environments;
  const path = environmentPath(loaded, list, entries.indexOf(known));
  const found = await withFrozenDirectories(known, path, loaded, directoryFinder(loaded, onNotice));
  const frozen = frozenModels([found]);
  const players = await resolvePlayers({ ...found, options: ref.options ?? {} }, description, path, {
    policy,
    frozen,
    scripts,
    policies,
    onNotice,
    source,
    refuse: (problems) => configError(source, problems),
  });
  return { ...players, frozen };
}

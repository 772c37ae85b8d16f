import { defined, type PolicyId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef, Player, RolloutRequest } from "@mrlm/spec/host";
import { configError } from "../config/config-problems.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolve-config.ts";
import { environmentPath } from "../config/environment-place.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { directoryFinder, localDirectory, withFrozenPaths } from "./frozen-directories.ts";
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
    measured,
  }: {
    readonly policy: PolicyId;
    readonly scripts: ScriptSource;
    readonly policies: PlayerSource["policies"];
    readonly measured?: Player | undefined;
  },
  onNotice: (text: string) => void,
): Promise<Pick<RolloutRequest, "players" | "sides"> & { readonly frozen: readonly FrozenModel[] }> {
  const { ref, description, known } = environment;
  const { config, source } = loaded;
  const resolve = (entry: ResolvedEnvironment, path: ConfigPath, frozen: readonly FrozenModel[]) =>
    resolvePlayers({ ...entry, options: ref.options ?? {} }, description, path, {
      trained: [policy],
      ...defined({ measured }),
      frozen,
      scripts,
      policies,
      onNotice,
      source,
      refuse: (problems) => configError(source, problems),
    });
  if (known?.players === undefined) return { ...(await resolve({ id: ref.id, options: {} }, [], [])), frozen: [] };
  const list = config.eval.environments.includes(known) ? "eval.environments" : "environments";
  const entries: readonly ResolvedEnvironment[] =
    list === "environments" ? config.environments : config.eval.environments;
  const path = environmentPath(loaded, list, entries.indexOf(known));
  const finder = directoryFinder(loaded, onNotice);
  const found = await withFrozenPaths(known, path, (given, place) => localDirectory(given, place, loaded, finder));
  const frozen = frozenModels([found]);
  return { ...(await resolve(found, path, frozen)), frozen };
}

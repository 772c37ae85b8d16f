import { existsSync } from "node:fs";
import { MrlmError, SINGLE_AGENT } from "@mrlm/spec";
import { configError } from "../config/config-problems.ts";
import { isRemote } from "../config/engines.ts";
import { type EnvironmentList, environmentPath } from "../config/environment-place.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolve-config.ts";
import { bareName } from "../names/versioned.ts";
import type { EnvironmentSource, PolicySources } from "../plugins/plugin-kinds.ts";
import { assertModelDirectory } from "../run/model-directory.ts";
import { isFrozen } from "./frozen-models.ts";
import { sharingProblems } from "./reward-sharing.ts";
import { type EnvironmentNames, roleProblems } from "./role-problems.ts";

/**
 * Checks the players of a configuration against the installed plugins and the disk, before any process is started. `prepareRun` checks them against the
 * environments of the host.
 * @param only environment to check, with or without its version; default: all
 * @throws CONFIG_INVALID or MODEL_DIRECTORY_MISSING, with the place and the nearest name
 */
export async function checkPlayers(
  loaded: LoadedConfig,
  plugins: Pick<EnvironmentSource, "environment"> & Pick<PolicySources, "policies">,
  only?: string,
): Promise<void> {
  const { config, source } = loaded;
  const lists: Readonly<Record<EnvironmentList, readonly ResolvedEnvironment[]>> = {
    environments: config.environments,
    "eval.environments": config.eval.environments,
  };
  const entries = Object.entries(lists).flatMap(([list, environments]) =>
    environments.flatMap((environment, i) => {
      const { id, players, reward_sharing } = environment;
      const isChecked = players !== undefined || reward_sharing !== undefined;
      return !isChecked || (only !== undefined && bareName(only) !== bareName(id))
        ? []
        : [{ environment, path: environmentPath(loaded, list as EnvironmentList, i) }];
    }),
  );
  const problems = await Promise.all(
    entries.map(async ({ environment, path }) => {
      const { id, players } = environment;
      const played = await installedEnvironment(id, config.server.address !== undefined, plugins);
      if (played === undefined) return [];
      return [
        ...(players === undefined ? [] : roleProblems(path, players, { ...played, policies: plugins.policies() })),
        ...(played.roles === undefined ? [] : sharingProblems(path, environment, { ...played, roles: played.roles })),
      ];
    }),
  );
  if (problems.flat().length > 0) throw configError(source, problems.flat());
  // A remote engine reads its own disk.
  if (isRemote(config)) return;
  for (const {
    environment: { players = {} },
    path,
  } of entries)
    for (const [role, player] of Object.entries(players))
      if (isFrozen(player) && !existsSync(player.model))
        assertModelDirectory(player.model, source.locate([...path, "players", role, "model"]));
}

/** Returns the names of an installed environment. An environment that a server alone has lacks them; `undefined` for one that is not installed, which the host reports. */
async function installedEnvironment(
  id: string,
  isOfServer: boolean,
  plugins: Pick<EnvironmentSource, "environment">,
): Promise<EnvironmentNames | undefined> {
  try {
    const definition = await plugins.environment(id);
    const { roles = { [SINGLE_AGENT]: {} } } = definition;
    return {
      id: definition.id,
      // Players of roles that depend on options are checked when these are read.
      roles: typeof roles === "function" ? undefined : Object.keys(roles),
      scripts: Object.keys(definition.scriptedPolicies ?? {}),
    };
  } catch (error) {
    if (!MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")) throw error;
    return isOfServer ? { id, roles: undefined, scripts: null } : undefined;
  }
}

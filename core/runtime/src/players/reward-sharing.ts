import type { MrlmError, RoleId } from "@mrlm/spec";
import type { EnvironmentDescription, RewardSharing } from "@mrlm/spec/host";
import { configError, type ConfigProblem, showPath } from "../config/config-problems.ts";
import { environmentPath } from "../config/environment-place.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolve-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { didYouMean, quoted } from "../names/nearest.ts";
import { ownMember } from "../names/own-member.ts";

/**
 * Returns the shared rewards of an environment for requests of episodes; nothing if its roles share none.
 * @param path of the entry in `environments`
 * @throws the error of `refuse` for a role that the environment lacks, and for a row without effect
 */
export function rewardSharingOf(
  environment: ResolvedEnvironment,
  { id, roles }: Pick<EnvironmentDescription, "id" | "roles">,
  path: ConfigPath,
  refuse: (problems: readonly ConfigProblem[]) => MrlmError,
): { readonly rewardSharing?: RewardSharing } {
  const problems = sharingProblems(path, environment, { id, roles: Object.keys(roles) });
  if (problems.length > 0) throw refuse(problems);
  return environment.reward_sharing === undefined ? {} : { rewardSharing: environment.reward_sharing };
}

/** Finds roles of `reward_sharing` that the environment lacks, rows without a weight, and rows of roles that no policy learns. */
export function sharingProblems(
  path: ConfigPath,
  { players, sides, reward_sharing = {} }: ResolvedEnvironment,
  { id, roles }: { readonly id: string; readonly roles: readonly RoleId[] },
): ConfigProblem[] {
  const place = [...path, "reward_sharing"];
  const unknown = (at: ConfigPath, role: RoleId): ConfigProblem[] =>
    roles.includes(role)
      ? []
      : [
          {
            path: [...at, role],
            at: "key",
            text: `${showPath(at)}: ${id} has no role ${quoted(role)}.${didYouMean(role, roles) || ` Its roles: ${roles.join(", ")}.`}`,
          },
        ];
  const learns = (role: RoleId): boolean => {
    const player = ownMember(players, role);
    return sides === "shuffle" || player === undefined || ("policy" in player && !("past" in player));
  };
  return Object.entries(reward_sharing).flatMap(([role, row]): ConfigProblem[] => {
    const own = [...place, role];
    const names = [...unknown(place, role), ...Object.keys(row).flatMap((other) => unknown(own, other))];
    if (names.length > 0) return names;
    const fault = Object.values(row).every((weight) => weight === 0)
      ? "states no weight but 0: this role would learn from no reward"
      : learns(role)
        ? undefined
        : `has no effect: no policy learns as ${quoted(role)}`;
    return fault === undefined ? [] : [{ path: own, at: "key", text: `${showPath(own)} ${fault}` }];
  });
}

/** Returns the shared rewards with which a run trains on an environment, for a collection of its episodes. */
export function trainedSharing(
  loaded: LoadedConfig,
  description: Pick<EnvironmentDescription, "id" | "roles">,
): { readonly rewardSharing?: RewardSharing } {
  const { environments } = loaded.config;
  const i = environments.findIndex(({ id }) => id === description.id || description.id.startsWith(`${id}@`));
  const refuse = (problems: readonly ConfigProblem[]): MrlmError => configError(loaded.source, problems);
  return i < 0
    ? {}
    : rewardSharingOf(
        environments[i] as ResolvedEnvironment,
        description,
        environmentPath(loaded, "environments", i),
        refuse,
      );
}

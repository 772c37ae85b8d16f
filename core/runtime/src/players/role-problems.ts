import type { RoleId } from "@mrlm/spec";
import type { PlayerRef } from "@mrlm/spec/host";
import { type ConfigProblem, showPath } from "../config/config-problems.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { installHint } from "../plugins/install-hint.ts";
import { didYouMean, quoted } from "../names/nearest.ts";
import { ownMember } from "../names/own-member.ts";
import { ENDPOINT_POLICY, isOutside } from "./outside-policies.ts";

/** Names that the players of an environment refer to. */
export interface EnvironmentNames {
  readonly id: string;
  /** `undefined` if only a server knows them. */
  readonly roles: readonly RoleId[] | undefined;
  /** Names of its scripted policies; `null` if its plugin is not installed here; absent if they are not to be checked. */
  readonly scripts?: readonly string[] | null;
  /** Ids of the policies of plugins; absent if they are not to be checked. */
  readonly policies?: readonly string[];
}

/**
 * Finds players of roles that the environment lacks, scripted policies that it lacks, and environments in which no policy plays.
 * @param path of the entry in `environments`
 */
export function roleProblems(
  path: ConfigPath,
  players: Readonly<Record<RoleId, PlayerRef>>,
  environment: EnvironmentNames,
): ConfigProblem[] {
  const { id, roles } = environment;
  const place = [...path, "players"];
  const problems = Object.entries(players).flatMap(([role, player]): ConfigProblem[] => {
    const own: ConfigPath = [...place, role];
    return [
      ...(roles === undefined || roles.includes(role)
        ? []
        : [
            {
              path: own,
              at: "key" as const,
              text: `${showPath(place)}: ${id} has no role ${quoted(role)}.${didYouMean(role, roles) || ` Its roles: ${roles.join(", ")}.`}`,
            },
          ]),
      ...("endpoint" in player ? outsideProblems([...own, "endpoint"], ENDPOINT_POLICY, environment.policies) : []),
      ...("scripted" in player ? scriptProblems([...own, "scripted"], player.scripted, environment) : []),
    ];
  });
  if (problems.length > 0 || roles === undefined || roles.some((role) => isPolicy(ownMember(players, role))))
    return problems;
  return [
    {
      path: place,
      at: "key",
      text: `${showPath(place)}: no role of ${id} is played by a policy: nothing could be learnt or measured`,
    },
  ];
}

/** Whether a trained policy plays a role with its present weights. A role without a player is played by the policy. */
function isPolicy(player: PlayerRef | undefined): boolean {
  return player === undefined || ("policy" in player && player.past === undefined);
}

/** Returns the fault of a scripted policy whose environment is on a server only. */
export function notInstalled(name: string, id: string): string {
  return `the scripted policy ${quoted(name)} acts in this process, and no plugin here has ${id}: install the environment's plugin in this project too`;
}

function scriptProblems(path: ConfigPath, name: string, { id, scripts, policies }: EnvironmentNames): ConfigProblem[] {
  if (isOutside(name)) return outsideProblems(path, name, policies);
  if (scripts === undefined || scripts?.includes(name) === true) return [];
  const fault =
    scripts === null
      ? notInstalled(name, id)
      : `${id} has no scripted policy ${quoted(name)}.${didYouMean(name, scripts) || (scripts.length === 0 ? " It has none." : ` Its scripted policies: ${scripts.join(", ")}.`)}`;
  return [{ path, at: "value", text: `${showPath(path)}: ${fault}` }];
}

function outsideProblems(path: ConfigPath, name: string, policies: EnvironmentNames["policies"]): ConfigProblem[] {
  if (policies === undefined || policies.includes(name)) return [];
  const known = policies.length === 0 ? " There are none." : ` Policies: ${policies.join(", ")}.`;
  const advice = didYouMean(name, policies) || `${known} ${installHint("policy", name)}`;
  return [{ path, at: "value", text: `${showPath(path)}: no plugin has the policy ${quoted(name)}.${advice}` }];
}

import {
  type EnvironmentDescription,
  type EnvironmentHost,
  type EnvironmentRef,
  MrlmError,
  type Player,
  type PlayerRef,
  type PolicyId,
  type RolloutRequest,
} from "@mrlm/spec";
import type { ConfigProblem } from "../config/config-problems.ts";
import { located } from "../config/located.ts";
import type { ResolvedEnvironment } from "../config/resolved-config.ts";
import type { ConfigPath, SourceText } from "../config/source-text.ts";
import { ownMember } from "../names/own-member.ts";
import type { FrozenModel } from "./frozen-models.ts";
import { notInstalled, roleProblems } from "./role-problems.ts";

/** Environments whose scripted policies can act in this process. */
export type ScriptSource = Pick<EnvironmentHost, "scripted">;

/** Players that the roles of a run refer to. */
export interface PlayerSource {
  readonly policy: PolicyId;
  readonly frozen: readonly FrozenModel[];
  readonly scripts: ScriptSource;
  readonly source: Pick<SourceText, "locate">;
  /** Creates the error for wrong names. */
  refuse(problems: readonly ConfigProblem[]): MrlmError;
}

/**
 * Returns the players of an environment's roles for requests of episodes.
 * @param path of the entry in `environments`
 * @throws CONFIG_INVALID for a role or a scripted policy that the environment lacks, OPTIONS_INVALID for wrong options of a scripted policy
 */
export async function resolvePlayers(
  { players, sides, options }: ResolvedEnvironment,
  { id, roles }: EnvironmentDescription,
  path: ConfigPath,
  source: PlayerSource,
): Promise<Pick<RolloutRequest, "players" | "sides">> {
  const { policy, refuse } = source;
  if (players === undefined) return { players: policy };
  const problems = roleProblems(path, players, { id, roles: Object.keys(roles) });
  if (problems.length > 0) throw refuse(problems);
  const resolved = await Promise.all(
    Object.keys(roles).map(async (role) => {
      const place = [...path, "players", role];
      const player = ownMember(players, role) ?? { policy };
      return [role, await resolvePlayer(player, { id, options }, place, source)] as const;
    }),
  );
  return { players: Object.fromEntries(resolved), sides: sides ?? "fixed" };
}

async function resolvePlayer(
  player: PlayerRef,
  environment: EnvironmentRef,
  place: ConfigPath,
  { frozen, scripts, source, refuse }: PlayerSource,
): Promise<Player> {
  if ("policy" in player) return { kind: "policy", policy: player.policy };
  if ("model" in player) {
    const model = frozen.find((each) => each.path === player.model)?.model;
    if (model === undefined) throw new MrlmError("INTERNAL", `The model ${player.model} was not listed.`);
    return { kind: "model", name: player.model, model };
  }
  const { scripted: name, options = {} } = player;
  const refused = (text: string): MrlmError => refuse([{ path: [...place, "scripted"], at: "value", text }]);
  const create = async (seed: number) => {
    if (scripts.scripted === undefined) throw refused(notInstalled(name, environment.id));
    return scripts.scripted(environment, { name, options, seed });
  };
  try {
    await create(0);
  } catch (error) {
    if (MrlmError.hasCode(error, "CONFIG_INVALID")) throw error;
    if (MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")) throw refused(notInstalled(name, environment.id));
    if (MrlmError.hasCode(error, "PLAYER_NOT_FOUND")) throw refused(`${error.message} ${error.hint}`);
    throw located(error, source.locate([...place, "options"]));
  }
  return { kind: "scripted", name, create };
}

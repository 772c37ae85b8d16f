import { MrlmError } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef, Player, PlayerRef, RolloutRequest } from "@mrlm/spec/host";
import { located } from "../config/located.ts";
import type { ResolvedEnvironment } from "../config/resolve-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { ownMember } from "../names/own-member.ts";
import { hasPast } from "./past-pools.ts";
import { isFrozen } from "./frozen-models.ts";
import type { PlayerSource } from "./player-source.ts";
import { outsideReference, resolveOutside } from "./resolve-outside.ts";
import { notInstalled, roleProblems } from "./role-problems.ts";

/**
 * Returns the players of an environment's roles for requests of episodes.
 * @param path of the entry in `environments`
 * @throws CONFIG_INVALID for a role or a scripted policy that the environment lacks, and for wrong options of a plugin's policy; OPTIONS_INVALID for wrong
 * options of a scripted policy
 */
export async function resolvePlayers(
  { players, sides, options }: ResolvedEnvironment,
  { id, roles }: EnvironmentDescription,
  path: ConfigPath,
  source: PlayerSource,
): Promise<Pick<RolloutRequest, "players" | "sides">> {
  const { trained, measured, refuse } = source;
  const [policy = ""] = trained;
  // Several policies and no players were refused before.
  if (players === undefined)
    return {
      players: measured === undefined ? policy : Object.fromEntries(Object.keys(roles).map((role) => [role, measured])),
    };
  const problems = roleProblems(path, players, { id, roles: Object.keys(roles) });
  if (trained.length > 1)
    problems.push(
      ...Object.keys(roles)
        .filter((role) => ownMember(players, role) === undefined)
        .map((role) => ({
          path: [...path, "players"],
          at: "key" as const,
          text: `the role "${role}" of ${id} has no player: this run trains several policies (${trained.join(", ")})`,
        })),
    );
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
  players: PlayerSource,
): Promise<Player> {
  if (hasPast(player)) return { kind: "past", policy: player.policy, newest: player.past.newest };
  if ("policy" in player)
    return players.measured !== undefined && player.policy === players.trained[0]
      ? players.measured
      : { kind: "policy", policy: player.policy };
  if (isFrozen(player)) {
    const model = players.frozen.find((each) => each.path === player.model)?.model;
    if (model === undefined) throw new MrlmError("INTERNAL", `The model ${player.model} was not listed.`);
    return { kind: "model", name: player.model, model };
  }
  const outside = outsideReference(player, place);
  if (outside !== undefined) return resolveOutside(outside, players);
  return resolveScript(player, environment, place, players);
}

async function resolveScript(
  { scripted: name, options = {} }: Extract<PlayerRef, { readonly scripted: string }>,
  environment: EnvironmentRef,
  place: ConfigPath,
  { scripts, source, refuse }: PlayerSource,
): Promise<Player> {
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
  return { kind: "scripted", name, isOutside: false, open: ({ seed }) => create(seed) };
}

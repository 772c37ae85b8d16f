import { hash64, randomStream } from "@mrlm/kit";
import { ownMember } from "../names/own-member.ts";
import { MrlmError, type PlayedBy, type Player, type RoleId, type RolloutRequest } from "@mrlm/spec";

/**
 * Returns the player of each role in a group. All members share it, so that a baseline never mixes opponents. With `sides: shuffle` the players are
 * assigned at random, from the run's seed and the group alone.
 * @throws MODEL_NOT_FOUND for a role without a player
 */
export function assignPlayers(
  { players, sides = "fixed" }: Pick<RolloutRequest, "players" | "sides">,
  roles: readonly RoleId[],
  { runSeed, group }: { readonly runSeed: number; readonly group: string },
): Readonly<Record<RoleId, Player>> {
  const given = roles.map((role) => playerOf(players, role));
  const assigned =
    sides === "shuffle" ? randomStream("sides", hash64(`sides/${runSeed}/${group}`)).shuffle(given) : given;
  return Object.fromEntries(roles.map((role, i) => [role, assigned[i] as Player]));
}

/**
 * Returns the record of a player for trajectories.
 * @param version weight version of the policy, if it is known
 */
export function playedBy(player: Player, version?: number): PlayedBy {
  if ("open" in player && player.recordedAs !== undefined)
    return { kind: "policy", name: player.name, policy: player.recordedAs };
  if (player.kind !== "policy") return { kind: player.kind, name: player.name };
  const { kind, policy } = player;
  return { kind, name: policy, policy, ...(version === undefined ? {} : { version }) };
}

function playerOf(players: RolloutRequest["players"], role: RoleId): Player {
  if (typeof players === "string") return { kind: "policy", policy: players };
  const found = ownMember(players, role);
  if (found !== undefined) return found;
  throw new MrlmError("MODEL_NOT_FOUND", `No player has the role "${role}".`, {
    hint: "Name a player for every role of the environment.",
  });
}

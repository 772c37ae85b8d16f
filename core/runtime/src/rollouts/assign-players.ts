import { hash64, randomStream } from "@mrlm/kit";
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

/** Returns the record of a player for trajectories. */
export function playedBy(player: Player): PlayedBy {
  return player.kind === "policy"
    ? { kind: "policy", name: player.policy, policy: player.policy }
    : { kind: player.kind, name: player.name };
}

function playerOf(players: RolloutRequest["players"], role: RoleId): Player {
  if (typeof players === "string") return { kind: "policy", policy: players };
  const found = Object.hasOwn(players, role) ? players[role] : undefined;
  if (found !== undefined) return found;
  throw new MrlmError("MODEL_NOT_FOUND", `No player has the role "${role}".`, {
    hint: "Name a player for every role of the environment.",
  });
}

import { randomStream } from "@mrlm/kit";
import { hash64 } from "@mrlm/kit/service";
import { ownMember } from "../names/own-member.ts";
import { drawPast, pastModel } from "./past-versions.ts";
import { type ModelId, MrlmError, type PolicyId, type RoleId } from "@mrlm/spec";
import type { PlayedBy, Player, RolloutRequest } from "@mrlm/spec/host";

/** Player of a role in a group, with the model that samples for it, if any. */
export type ActingPlayer =
  | Exclude<Player, { readonly kind: "past" }>
  | { readonly kind: "past"; readonly policy: PolicyId; readonly version: number; readonly model: ModelId };

/** Group whose players are assigned. */
interface GroupOfPlayers {
  readonly runSeed: number;
  readonly group: string;
  /** Earlier versions of a policy that the engine holds, ascending; at least one. */
  pastVersions(policy: PolicyId): readonly number[];
}

/**
 * Returns the player of each role in a group. All members share it, so that a baseline never mixes opponents. With `sides: shuffle` the players are
 * assigned at random, from the run's seed and the group alone.
 * @throws MODEL_NOT_FOUND for a role without a player
 */
export function assignPlayers(
  { players, sides = "fixed" }: Pick<RolloutRequest, "players" | "sides">,
  roles: readonly RoleId[],
  { runSeed, group, pastVersions }: GroupOfPlayers,
): Readonly<Record<RoleId, ActingPlayer>> {
  const given = roles.map((role) => playerOf(players, role));
  const assigned =
    sides === "shuffle" ? randomStream("sides", hash64(`sides/${runSeed}/${group}`)).shuffle(given) : given;
  return Object.fromEntries(
    roles.map((role, i) => {
      const player = assigned[i] as Player;
      if (player.kind !== "past") return [role, player];
      const { policy, newest } = player;
      const version = drawPast(pastVersions(policy), newest, { runSeed, group, role });
      return [role, { kind: "past", policy, version, model: pastModel(policy, version) }];
    }),
  );
}

/**
 * Returns the record of a player for trajectories.
 * @param version weight version of the policy, if it is known
 */
export function playedBy(player: ActingPlayer, version?: number): PlayedBy {
  if ("open" in player && player.recordedAs !== undefined)
    return { kind: "policy", name: player.name, policy: player.recordedAs };
  if (player.kind === "past") {
    const { kind, policy, version: past } = player;
    return { kind, name: policy, policy, version: past };
  }
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

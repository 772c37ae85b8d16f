import type { PolicyId, RoleId, TrajectoryGroup } from "@mrlm/spec";

/**
 * Returns the roles whose rewards are measured apart: those that policies play, if they play several roles of one group; else none.
 *
 * @param policy the only policy to count; default: all
 */
export function policyRoles(groups: readonly Pick<TrajectoryGroup, "players">[], policy?: PolicyId): readonly RoleId[] {
  const played = groups.map(({ players }) =>
    Object.entries(players).flatMap(([role, player]) =>
      player.kind === "policy" && (policy === undefined || player.policy === policy) ? [role] : [],
    ),
  );
  return played.some(({ length }) => length > 1) ? [...new Set(played.flat())] : [];
}

import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";

/** Divides the seconds of play between sampler, environment and policies of plugins, in proportion to the time that episodes waited for each. */
export function playSeconds(groups: readonly TrajectoryGroup[], seconds: number): Trajectory["seconds"] {
  let [sampling, environment, players] = [0, 0, 0];
  for (const trajectory of groups.flatMap(({ trajectories }) => trajectories)) {
    environment += trajectory.seconds.environment;
    sampling += trajectory.seconds.sampling;
    players += trajectory.seconds.players ?? 0;
  }
  const each = seconds / Math.max(1e-9, environment + sampling + players);
  return {
    sampling: seconds - each * (environment + players),
    environment: each * environment,
    ...(players > 0 ? { players: each * players } : {}),
  };
}

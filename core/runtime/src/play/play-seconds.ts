import type { TrajectoryGroup } from "@mrlm/spec";

/** Divides the seconds of play between environment and sampler, in proportion to the time that episodes waited for each. */
export function playSeconds(
  groups: readonly TrajectoryGroup[],
  seconds: number,
): { readonly sampling: number; readonly environment: number } {
  let environment = 0;
  let sampling = 0;
  for (const trajectory of groups.flatMap(({ trajectories }) => trajectories)) {
    environment += trajectory.seconds.environment;
    sampling += trajectory.seconds.sampling;
  }
  const share = environment / Math.max(1e-9, environment + sampling);
  return { sampling: seconds * (1 - share), environment: seconds * share };
}

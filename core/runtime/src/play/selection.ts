import type { TrajectoryGroup } from "@mrlm/spec";
import type { SourcedTake } from "./take-source.ts";

/**
 * Returns metrics of what is learnt against what was opened, over the groups of a take: number of tasks, mean sampled tokens of a group and mean seconds
 * of a group (those of its longest episode), each of the accepted groups in units of that of all groups. All are 1 where nothing is refused; without accepted
 * groups there is only `selection/tasks`, which is 0.
 */
export function selectionOf({ played, groups }: Pick<SourcedTake, "played" | "groups">): Record<string, number> {
  const metrics = { "selection/tasks": groups.length / Math.max(1, played.length) };
  if (groups.length === 0) return metrics;
  return {
    ...metrics,
    "selection/lengths": ratio(groups, played, tokensOf),
    "selection/durations": ratio(groups, played, secondsOf),
  };
}

function ratio(
  some: readonly TrajectoryGroup[],
  all: readonly TrajectoryGroup[],
  of: (group: TrajectoryGroup) => number,
): number {
  const meanOf = (groups: readonly TrajectoryGroup[]): number =>
    groups.reduce((sum, group) => sum + of(group), 0) / groups.length;
  const mean = meanOf(all);
  return mean === 0 ? 1 : meanOf(some) / mean;
}

function tokensOf({ trajectories }: TrajectoryGroup): number {
  let count = 0;
  for (const { agents } of trajectories)
    for (const { segments } of Object.values(agents))
      for (const { versions } of segments) for (const version of versions) if (version >= 0) count++;
  return count;
}

function secondsOf({ trajectories }: TrajectoryGroup): number {
  return Math.max(
    0,
    ...trajectories.map(({ seconds }) => seconds.environment + seconds.sampling + (seconds.players ?? 0)),
  );
}

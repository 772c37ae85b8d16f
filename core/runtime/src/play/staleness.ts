import { learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import type { ModelId, TrajectoryGroup } from "@mrlm/spec";

/** Whether a learnable token of the group was sampled by weights before `oldestVersion`. */
export function isStale({ trajectories }: TrajectoryGroup, policy: ModelId, oldestVersion: number): boolean {
  const counts = noEpisodeCounts();
  for (const trajectory of trajectories)
    learnableEpisodes(trajectory, { dropCut: false, oldestVersion, policy }, counts);
  return counts.stale > 0;
}

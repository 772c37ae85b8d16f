import { isPlayedBy, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import type { ModelId, TrajectoryGroup } from "@mrlm/spec";

/** Whether a learnable token of the group was sampled by weights before `oldestVersion`. */
export function isStale({ trajectories }: TrajectoryGroup, policy: ModelId, oldestVersion: number): boolean {
  const counts = noEpisodeCounts();
  for (const trajectory of trajectories)
    learnableEpisodes(trajectory, { dropCut: false, oldestVersion, policy }, counts);
  return counts.stale > 0;
}

/** Returns mean and largest age of the tokens that some policies learn from in some groups, in versions. */
export function agesOf(
  groups: readonly TrajectoryGroup[],
  policies: readonly ModelId[],
  newestOf: (policy: ModelId) => number,
): { readonly mean: number; readonly largest: number } {
  let [sum, tokens, largest] = [0, 0, 0];
  for (const { trajectories } of groups)
    for (const part of trajectories.flatMap(({ agents }) => Object.values(agents))) {
      const policy = policies.find((each) => isPlayedBy(part, each));
      if (policy === undefined) continue;
      const newest = newestOf(policy);
      for (const { mask, versions } of part.segments)
        for (const [i, version] of versions.entries()) {
          if (mask[i] !== 1) continue;
          sum += newest - version;
          largest = Math.max(largest, newest - version);
          tokens++;
        }
    }
  return { mean: tokens === 0 ? 0 : sum / tokens, largest };
}

import { isPlayedBy, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import type { AgentTrajectory, ModelId, Segment, TrajectoryGroup } from "@mrlm/spec";

/** Whether a learnable token of the group was sampled by weights before `oldestVersion`. */
export function isStale({ trajectories }: TrajectoryGroup, policy: ModelId, oldestVersion: number): boolean {
  const counts = noEpisodeCounts();
  for (const trajectory of trajectories)
    learnableEpisodes(trajectory, { dropCut: false, oldestVersion, policy }, counts);
  return counts.stale > 0;
}

/**
 * Returns the group without the tokens that weights before `oldestVersion` sampled in the mask of a policy's parts: they stay context and are in no sum and no
 * count of an algorithm. Their versions stay. Returns the same object where there are none.
 */
export function withoutStale(group: TrajectoryGroup, policy: ModelId, oldestVersion: number): TrajectoryGroup {
  if (!isStale(group, policy, oldestVersion)) return group;
  const young = ({ mask, versions, ...rest }: Segment): Segment => ({
    ...rest,
    mask: mask.map((chosen, t) => ((versions[t] as number) < oldestVersion ? 0 : chosen)),
    versions,
  });
  const partOf = (part: AgentTrajectory): AgentTrajectory =>
    isPlayedBy(part, policy) ? { ...part, segments: part.segments.map(young) } : part;
  const trajectories = group.trajectories.map(({ agents, ...rest }) => ({
    ...rest,
    agents: Object.fromEntries(Object.entries(agents).map(([agent, part]) => [agent, partOf(part)])),
  }));
  return { ...group, trajectories };
}

/** Returns mean and largest age of the tokens that some policies learn from in some groups, in versions, and the share of their sampled tokens that are masked. */
export function agesOf(
  groups: readonly TrajectoryGroup[],
  policies: readonly ModelId[],
  newestOf: (policy: ModelId) => number,
): { readonly mean: number; readonly largest: number; readonly masked: number } {
  let [sum, tokens, largest, masked] = [0, 0, 0, 0];
  for (const { trajectories } of groups)
    for (const part of trajectories.flatMap(({ agents }) => Object.values(agents))) {
      const policy = policies.find((each) => isPlayedBy(part, each));
      if (policy === undefined) continue;
      const newest = newestOf(policy);
      for (const { mask, versions } of part.segments)
        for (const [i, version] of versions.entries()) {
          if (mask[i] !== 1) {
            if (version >= 0) masked++;
            continue;
          }
          sum += newest - version;
          largest = Math.max(largest, newest - version);
          tokens++;
        }
    }
  return { mean: tokens === 0 ? 0 : sum / tokens, largest, masked: masked === 0 ? 0 : masked / (masked + tokens) };
}

import type { AlgorithmContext, TrajectoryGroup } from "@mrlm/spec";
import type { TaskBatch } from "./task-order.ts";

/**
 * Plays episodes of the policy, as the run samples them.
 *
 * @param label names the randomness of these episodes: no two batches of a stage may share one
 */
export async function playGroups(
  context: AlgorithmContext,
  batches: readonly TaskBatch[],
  groupSize: number,
  label: string,
): Promise<TrajectoryGroup[]> {
  const groups: TrajectoryGroup[] = [];
  for (const { environment, tasks } of batches) {
    // One environment may stand in a configuration twice, with other options: its tasks have the same names.
    const twin = context.environments.filter(({ ref }) => ref.id === environment.ref.id).indexOf(environment);
    const episodes = context.rollouts.collect({
      environment: environment.ref,
      tasks,
      groupSize,
      model: context.policy,
      sampling: context.sampling,
      label: `${label}/${environment.ref.id}${twin > 0 ? `#${twin + 1}` : ""}`,
      signal: context.signal,
    });
    for await (const group of episodes) groups.push(group);
  }
  return groups;
}

/** Seconds of playing, divided between environments and sampler by how long episodes waited for each. */
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

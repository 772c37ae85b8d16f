import type { AlgorithmContext, TrajectoryGroup } from "@mrlm/spec";
import type { TaskBatch } from "./task-order.ts";

/**
 * Plays episodes of the policy with the sampling parameters of the run.
 *
 * @param label name of the random streams of these episodes, unique in a stage
 */
export async function playGroups(
  context: AlgorithmContext,
  batches: readonly TaskBatch[],
  groupSize: number,
  label: string,
): Promise<TrajectoryGroup[]> {
  const groups: TrajectoryGroup[] = [];
  for (const { environment, tasks } of batches) {
    // A configuration may have the same environment twice with different options: its task ids are then equal.
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

/** Divides the seconds of a batch between environment and sampler, in proportion to the time that episodes waited for each. */
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

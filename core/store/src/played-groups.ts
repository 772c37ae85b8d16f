import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { Lease } from "@mrlm/spec/host";
import type { LoggedGroup } from "./batch-table.ts";

interface PlayedCohort {
  readonly lease: Lease;
  readonly groups: Map<string, TrajectoryGroup>;
}

/** Groups that this process committed and no learner has taken: a take of them reads nothing from the disk. */
export class PlayedGroups {
  readonly #cohorts = new Map<string, PlayedCohort>();

  add(lease: Lease, groups: readonly TrajectoryGroup[]): void {
    const { id } = lease.cohort;
    const known = this.#cohorts.get(id);
    const played =
      known?.lease.attempt === lease.attempt ? known : { lease, groups: new Map<string, TrajectoryGroup>() };
    this.#cohorts.set(id, played);
    for (const group of groups) played.groups.set(group.id, joined(played.groups.get(group.id), group));
  }

  /** Returns a group of a batch, once; `undefined` where another process committed some of it, or it was taken before. */
  remove({ cohort, id }: LoggedGroup): TrajectoryGroup | undefined {
    const played = this.#cohorts.get(cohort);
    const group = played?.groups.get(id);
    played?.groups.delete(id);
    if (played?.groups.size === 0) this.#cohorts.delete(cohort);
    // After a last commit that is repeated the group may be here in part.
    const planned = played?.lease.cohort.groups.find((each) => each.id === id);
    return group?.trajectories.length === planned?.size ? group : undefined;
  }

  abandon(learner: string, fromStep: number): void {
    for (const [id, { lease }] of this.#cohorts)
      if (lease.cohort.learner === learner && lease.cohort.step >= fromStep) this.#cohorts.delete(id);
  }
}

/** A group whose episodes were committed in several calls; members in order. */
function joined(earlier: TrajectoryGroup | undefined, group: TrajectoryGroup): TrajectoryGroup {
  if (earlier === undefined) return group;
  const members = new Map<number, Trajectory>();
  for (const each of [...group.trajectories, ...earlier.trajectories]) members.set(each.member, each);
  return { ...group, trajectories: [...members.values()].toSorted((one, other) => one.member - other.member) };
}

import type { TrajectoryGroup } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";

/** Place of a batch of groups in a run. */
export interface BatchPlace {
  /** Index of the stage from 0. */
  readonly stage: number;
  /** Name of the learner's plan. */
  readonly name: string;
  /** Number of the learner's take, from 1. */
  readonly take: number;
  /** `undefined` where the plan states no refills. */
  readonly refill: number | undefined;
}

/**
 * Returns the label of the groups of one environment: `STAGE/NAME/TAKE[/REFILL]/ENVIRONMENT[#TWIN]`. Seeds follow from it. A configuration may have the
 * same environment twice with different options, whose task ids are equal; TWIN counts them from 2.
 * @param index of the environment in the list
 */
export function groupLabel(
  { stage, name, take, refill }: BatchPlace,
  environments: readonly { readonly ref: EnvironmentRef }[],
  index: number,
): string {
  const batch = [stage, name, take, ...(refill === undefined ? [] : [refill])].join("/");
  const ids = environments.map(({ ref }) => ref.id);
  return `${batch}/${environmentLabel(ids, index)}`;
}

/** Returns the part of a label that names an environment. */
export function environmentLabel(ids: readonly string[], index: number): string {
  const id = ids[index];
  const twins = ids.slice(0, index).filter((other) => other === id).length;
  return `${id}${twins > 0 ? `#${twins + 1}` : ""}`;
}

/** Returns the index of the environment of a group, whose id is `LABEL/ENVIRONMENT/TASK[#OCCURRENCE]`. */
export function environmentOf({ id, task }: Pick<TrajectoryGroup, "id" | "task">, ids: readonly string[]): number {
  const played = id.slice(0, id.lastIndexOf(`/${task}`));
  const label = played.slice(0, played.lastIndexOf("/"));
  return ids.findIndex((_, index) => label.endsWith(`/${environmentLabel(ids, index)}`));
}

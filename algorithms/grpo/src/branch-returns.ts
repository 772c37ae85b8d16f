import type { Metrics, TrajectoryGroup, TurnRecord } from "@mrlm/spec";

type Branch = NonNullable<TurnRecord["branches"]>[number];

/** Returns the returns of the scored branches of a turn. A failed or unscored one is left out, as such episodes are. */
export function branchReturns({ branches = [] }: TurnRecord, weights: Readonly<Record<string, number>>): number[] {
  return branches.flatMap((branch) => returnOf(branch, weights) ?? []);
}

function returnOf({ error, rewards }: Branch, weights: Readonly<Record<string, number>>): number | undefined {
  if (error !== undefined) return undefined;
  let sum = 0;
  for (const [agent, weight] of Object.entries(weights)) {
    const reward = rewards[agent];
    if (reward?.scored === false) return undefined;
    sum += weight * (reward?.value ?? 0);
  }
  return sum;
}

/** Returns metrics of the branches of a batch, and a notice of those that failed. */
export function branchReport(groups: readonly TrajectoryGroup[]): {
  readonly metrics: Metrics;
  readonly notices: readonly string[];
} {
  const turns = groups.flatMap(({ trajectories }) => trajectories.flatMap((trajectory) => trajectory.turns));
  const branches = turns.flatMap(({ branches: own = [] }) => own);
  const sum = (of: (branch: (typeof branches)[number]) => number): number =>
    branches.reduce((total, branch) => total + of(branch), 0);
  const errors = branches.flatMap(({ error }) => error ?? []);
  const [first] = errors;
  return {
    metrics: {
      "branches/played": branches.length,
      "branches/failed": errors.length,
      "branches/unscored": sum(({ rewards }) => Number(Object.values(rewards).some(({ scored }) => !scored))),
      "branches/turns": sum((branch) => branch.turns),
      "branches/tokens": sum(({ tokens }) => tokens),
      "branches/repeated_turns": sum(({ repeated }) => repeated),
    },
    notices:
      first === undefined
        ? []
        : [
            `${errors.length} of ${branches.length} branches failed and were left out, the first with ${first.code}: ${first.message}`,
          ],
  };
}

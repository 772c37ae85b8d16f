import type { IterationReport, Logger, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";

/** Smallest and largest sum of the rewards of an agent in an episode. */
export type RewardRange = readonly [least: number, largest: number];

/** Metric: parts of episodes whose rewards are outside of the range that their environment states. Absent where there are none. */
export const OUT_OF_RANGE = "episodes/out_of_range";
/** Beginning of a notice about the first of them. */
export const OUT_OF_RANGE_NOTICE = "Rewards are outside of their range:";

/** Differences that are rounding, relative to the size of a bound. */
const EPSILON = 1e-9;

/** Returns the faults of an episode's rewards: one text for each agent whose sum is outside of the range. Episodes that failed have no sum. */
export function outOfRange({ environment, task, agents, error }: Trajectory, range: RewardRange): string[] {
  if (error !== undefined) return [];
  const [least, largest] = range;
  const slack = (bound: number): number => EPSILON * Math.max(1, Math.abs(bound));
  return Object.entries(agents).flatMap(([agent, { total }]) =>
    !total.scored || (total.value >= least - slack(least) && total.value <= largest + slack(largest))
      ? []
      : [
          `agent "${agent}" earned ${total.value} in task ${task} of ${environment}, whose range is ${least} to ${largest}`,
        ],
  );
}

/** Reports rewards outside of the range that their environment states, once for each environment, and counts them. */
export class RewardWatch {
  readonly #logger: Logger;
  readonly #ranges = new Map<string, RewardRange>();
  readonly #reported = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Notes the range of an environment. One that is played under several options has the widest. */
  describe({ id, rewardRange }: Pick<EnvironmentDescription, "id" | "rewardRange">): void {
    if (rewardRange === undefined) return;
    const [least, largest] = this.#ranges.get(id) ?? rewardRange;
    this.#ranges.set(id, [Math.min(least, rewardRange[0]), Math.max(largest, rewardRange[1])]);
  }

  /** Returns a text for each agent that earned too little or too much. Warns of the first one in each environment. */
  note(trajectory: Trajectory): readonly string[] {
    const range = this.#ranges.get(trajectory.environment);
    const faults = range === undefined ? [] : outOfRange(trajectory, range);
    const [first] = faults;
    if (first !== undefined && !this.#reported.has(trajectory.environment)) {
      this.#reported.add(trajectory.environment);
      this.#logger.warn(`${OUT_OF_RANGE_NOTICE} ${first}. Correct the reward, or the rewardRange of the environment.`);
    }
    return faults;
  }

  /**
   * Returns the report of an iteration with the number of such rewards in its batch, and a notice of the first one for its record. Both follow from the batch
   * alone: a resumed run records the same.
   */
  addTo(report: IterationReport, played: readonly TrajectoryGroup[]): { report: IterationReport; recorded: string[] } {
    const faults = played.flatMap(({ trajectories }) => trajectories.flatMap((trajectory) => this.note(trajectory)));
    if (faults.length === 0) return { report, recorded: [] };
    return {
      report: { ...report, metrics: { ...report.metrics, [OUT_OF_RANGE]: faults.length } },
      recorded: [`${OUT_OF_RANGE_NOTICE} ${faults[0]}.`],
    };
  }
}

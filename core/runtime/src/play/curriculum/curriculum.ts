import { MrlmError, type TaskId, type TrainingEnvironment, type TrajectoryGroup } from "@mrlm/spec";
import type { EpochOrder } from "@mrlm/kit/learning";
import { z } from "zod";
import { environmentLabel, environmentOf } from "../labels.ts";
import type { TaskDraw, TaskOrder, TaskPosition } from "../task-order.ts";
import { CreditTurns } from "./credit-turns.ts";
import { type CurriculumSettings, type Outcome, poolState, TaskPool } from "./task-pool.ts";

/** Adaptive order of the tasks of a stage. */
export interface CurriculumPlan {
  readonly settings: CurriculumSettings;
  /** Groups of a batch. Results count by whole batches. */
  readonly groups: number;
  /**
   * Draws after a result that do not depend on it; default: those that were made before it was observed. Where groups are opened beside learning, the number of
   * results at a draw follows from the speed of the machine, and at least all but the last `ahead` are there.
   */
  readonly ahead?: number;
}

const count = z.int().nonnegative();

/** State of a curriculum. */
export const curriculumState = z.object({
  draws: count,
  batches: count,
  turns: z.array(z.number()),
  /** Results that do not count yet, in the order of observation: environment, task, passes, trials, and level if there is one. */
  waiting: z.array(z.array(z.number())),
  pools: z.array(poolState),
});

interface PlacedOutcome extends Outcome {
  /** Index of the environment in the configuration. */
  readonly environment: number;
}

/** Share of its weight that an environment keeps, however little it learns. */
const KEPT_SHARE = 0.2;

/**
 * Order of tasks by measured pass rates. A draw depends on the draws and results before it alone: their order is that of the takes, so that it is the same for any
 * speed of play, and after a resume.
 */
export class Curriculum implements TaskOrder {
  readonly #environments: readonly TrainingEnvironment[];
  readonly #orders: readonly EpochOrder[];
  readonly #pools: readonly TaskPool[];
  readonly #plan: CurriculumPlan;
  readonly #turns: CreditTurns;
  readonly #weights: readonly number[];
  #drawn: number[];
  #draws = 0;
  #batches = 0;
  #waiting: PlacedOutcome[] = [];

  /** @param orders of the tasks that were never drawn, by environment */
  constructor(environments: readonly TrainingEnvironment[], orders: readonly EpochOrder[], plan: CurriculumPlan) {
    const total = environments.reduce((sum, { weight }) => sum + weight, 0);
    this.#environments = environments;
    this.#orders = orders;
    this.#plan = plan;
    this.#pools = environments.map(
      ({ splits }, i) => new TaskPool(orders[i] as EpochOrder, splits["train"] as number, plan.settings, plan.groups),
    );
    this.#weights = environments.map(({ weight }) => weight / total);
    this.#turns = new CreditTurns(this.#weights);
    this.#drawn = environments.map(() => 0);
  }

  take(groups: number): TaskDraw[] {
    const draws = this.#environments.map((_, environment) => ({ environment, tasks: [] as TaskId[] }));
    for (let i = 0; i < groups; i++) {
      this.#draws++;
      this.#count();
      const environment = this.#turns.next();
      this.#drawn[environment] = (this.#drawn[environment] as number) + 1;
      draws[environment]?.tasks.push(`train/${this.#pools[environment]?.draw()}`);
    }
    return draws.filter(({ tasks }) => tasks.length > 0);
  }

  observe(groups: readonly TrajectoryGroup[]): void {
    const ids = this.#environments.map(({ ref }) => ref.id);
    for (const group of groups) {
      const environment = environmentOf(group, ids);
      if (environment < 0) throw new MrlmError("INTERNAL", `Group ${group.id} is of no environment of the stage.`);
      this.#waiting.push({ environment, ...outcomeOf(group, this.#environments[environment]?.rewardRange) });
    }
    if (this.#plan.ahead === undefined) this.#count();
  }

  metrics(): Record<string, number> {
    const counts = this.#pools.map((pool) => pool.counts);
    const sum = (name: keyof (typeof counts)[number]): number => counts.reduce((total, each) => total + each[name], 0);
    const ids = this.#environments.map(({ ref }) => ref.id);
    const shares = this.#turns.shares.map(
      (share, i) => [`curriculum/share/${environmentLabel(ids, i)}`, share] as const,
    );
    return {
      "curriculum/active": sum("active"),
      "curriculum/easy": sum("easy"),
      "curriculum/hard": sum("hard"),
      ...(this.#plan.settings.mixture === "progress" ? Object.fromEntries(shares) : {}),
    };
  }

  position(): TaskPosition {
    const waiting = this.#waiting.map(({ environment, task, passes, trials, level }) => [
      ...[environment, task, passes, trials],
      ...(level === undefined ? [] : [level]),
    ]);
    return {
      drawn: [...this.#drawn],
      positions: this.#orders.map((order) => order.position()),
      curriculum: {
        ...{ draws: this.#draws, batches: this.#batches, turns: this.#turns.state(), waiting },
        pools: this.#pools.map((pool) => pool.state()),
      },
    };
  }

  seek({ drawn, positions, curriculum }: TaskPosition): void {
    if (curriculum === undefined) throw new RangeError("The position is of another order");
    this.#drawn = [...drawn];
    for (const [i, order] of this.#orders.entries()) order.seek(positions[i] as number);
    this.#draws = curriculum.draws;
    this.#batches = curriculum.batches;
    this.#turns.restore(curriculum.turns);
    this.#waiting = curriculum.waiting.map(([environment, task, passes, trials, level]) => ({
      ...({ environment, task, passes, trials } as PlacedOutcome),
      ...(level !== undefined && { level }),
    }));
    for (const [i, state] of curriculum.pools.entries()) this.#pools[i]?.restore(state, this.#batches);
    this.#mix();
  }

  /** Counts the results of whole batches, as far as the next draw depends on them. */
  #count(): void {
    const { groups, ahead } = this.#plan;
    const due = ahead === undefined ? Infinity : Math.floor((this.#draws - ahead) / groups);
    while (this.#batches < due && this.#waiting.length >= groups) {
      this.#batches++;
      for (const outcome of this.#waiting.splice(0, groups))
        this.#pools[outcome.environment]?.observe(outcome, this.#batches);
      for (const pool of this.#pools) pool.place(this.#batches);
      this.#mix();
    }
  }

  /** Divides the draws between environments: by weight, or by weight and learning progress. */
  #mix(): void {
    if (this.#plan.settings.mixture === "weights") return;
    const gains = this.#pools.map(({ progress }, i) => (this.#weights[i] as number) * Math.abs(progress));
    const total = gains.reduce((sum, gain) => sum + gain, 0);
    if (total > 0)
      this.#turns.shares = this.#weights.map(
        (weight, i) => KEPT_SHARE * weight + ((1 - KEPT_SHARE) * (gains[i] as number)) / total,
      );
  }
}

/** Returns the rates of a group: rewards of trained policies, in units of the range of the environment's rewards. What has no score does not count. */
function outcomeOf({ task, trajectories }: TrajectoryGroup, [low, high]: readonly [number, number] = [0, 1]): Outcome {
  const rates = trajectories.flatMap(({ agents, error }) =>
    Object.values(agents).flatMap(({ player, total }) => {
      if (error !== undefined || player.kind !== "policy" || !total.scored) return [];
      return Math.min(1, Math.max(0, (total.value - low) / (high > low ? high - low : 1)));
    }),
  );
  const level = trajectories.find(({ turns: [first] }) => first?.difficulty !== undefined)?.turns[0]?.difficulty;
  return {
    task: Number(task.slice(task.lastIndexOf("/") + 1)),
    passes: rates.reduce((sum, rate) => sum + rate, 0),
    trials: rates.length,
    ...(level !== undefined && { level }),
  };
}

import { epochOrder, type EpochOrder, indexOrder, weightedRoundRobin } from "@mrlm/kit/learning";
import type { JsonValue, TaskId, TrainingEnvironment, TrajectoryGroup } from "@mrlm/spec";
import type { z } from "zod";
import { Curriculum, type CurriculumPlan, type curriculumState } from "./curriculum/curriculum.ts";

/** Tasks of one environment in a draw. */
export interface TaskDraw {
  /** Index of the environment in the configuration. */
  readonly environment: number;
  readonly tasks: readonly TaskId[];
}

/** Position of a task order: the selections of each environment, and the tasks taken of each; with a curriculum, those that were never drawn before, and its state. */
export interface TaskPosition {
  readonly drawn: readonly number[];
  readonly positions: readonly number[];
  readonly curriculum?: z.output<typeof curriculumState>;
}

/**
 * Order of training tasks: environments by weight, the tasks of each without replacement in an epoch. Their order is random, or by index if the
 * environment orders its split. An adaptive order ({@link Curriculum}) depends on the results too.
 */
export interface TaskOrder {
  /** Draws the next tasks, by environment in the order of the configuration. */
  take(count: number): TaskDraw[];
  /** Learns the results of drawn tasks, each once, in the order in which batches have them. */
  observe(groups: readonly TrajectoryGroup[]): void;
  metrics(): Readonly<Record<string, number>>;
  position(): TaskPosition;
  seek(position: TaskPosition): void;
}

function trainOrder({ splits, orderedSplits }: TrainingEnvironment, name: string, seed: number): EpochOrder {
  const size = splits["train"] as number;
  return orderedSplits.includes("train") ? indexOrder(size) : epochOrder(size, name, seed);
}

/** @param name of the random streams, unique in a stage */
export function taskOrder(
  environments: readonly TrainingEnvironment[],
  name: string,
  seed: number,
  curriculum?: CurriculumPlan,
): TaskOrder {
  const orders = environments.map((environment, i) => trainOrder(environment, `${name}/${i}`, seed));
  if (curriculum !== undefined) return new Curriculum(environments, orders, curriculum);
  const turns = weightedRoundRobin(environments.map(({ weight }) => weight));
  return {
    take(count) {
      const draws = environments.map((_, environment) => ({ environment, tasks: [] as TaskId[] }));
      for (let i = 0; i < count; i++) {
        const next = turns.next();
        draws[next]?.tasks.push(`train/${orders[next]?.take(1)[0]}`);
      }
      return draws.filter(({ tasks }) => tasks.length > 0);
    },
    observe: () => undefined,
    metrics: () => ({}),
    position: () => ({ drawn: [...turns.drawn()], positions: orders.map((order) => order.position()) }),
    seek({ drawn, positions }) {
      turns.restore(drawn);
      for (const [i, order] of orders.entries()) order.seek(positions[i] as number);
    },
  };
}

/** Returns a position as the log of batches has it. The state of a curriculum follows from the batches. */
export function loggedPosition({ drawn, positions }: TaskPosition): JsonValue {
  return { drawn, positions };
}

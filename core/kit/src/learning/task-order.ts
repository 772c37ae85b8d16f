import type { AlgorithmContext, JsonObject, TaskId, TrainingEnvironment } from "@mrlm/spec";
import { epochOrder, type EpochOrder, indexOrder } from "./epoch-order.ts";
import { weightedRoundRobin } from "./weighted-round-robin.ts";

/** Tasks of one environment in one batch. */
export interface TaskBatch {
  readonly environment: TrainingEnvironment;
  readonly tasks: readonly TaskId[];
}

/**
 * Order of training tasks: environments by weight, the tasks of each without replacement in an epoch. Their order is random, or by index if the
 * environment orders its split (a curriculum).
 */
export interface TaskOrder {
  take(count: number): TaskBatch[];
  state(): JsonObject;
  restore(state: JsonObject): void;
}

function trainOrder({ splits, orderedSplits }: TrainingEnvironment, name: string, seed: number): EpochOrder {
  const size = splits["train"] as number;
  return orderedSplits.includes("train") ? indexOrder(size) : epochOrder(size, name, seed);
}

/** @param name of the random stream, unique in a stage */
export function taskOrder(context: AlgorithmContext, name: string): TaskOrder {
  const orders = context.environments.map((environment, i) => trainOrder(environment, `${name}/${i}`, context.seed));
  const turns = weightedRoundRobin(context.environments.map(({ weight }) => weight));
  return {
    take(count) {
      const batches = context.environments.map((environment) => ({ environment, tasks: [] as TaskId[] }));
      for (let i = 0; i < count; i++) {
        const next = turns.next();
        batches[next]?.tasks.push(`train/${orders[next]?.take(1)[0]}`);
      }
      return batches.filter(({ tasks }) => tasks.length > 0);
    },
    state: () => ({ drawn: [...turns.drawn()], positions: orders.map((order) => order.position()) }),
    restore(state) {
      turns.restore(state["drawn"] as number[]);
      for (const [i, order] of orders.entries()) order.seek((state["positions"] as number[])[i] as number);
    },
  };
}

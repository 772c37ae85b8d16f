import type { AlgorithmContext, JsonObject, TaskId, TrainingEnvironment } from "@mrlm/spec";
import { epochOrder, type EpochOrder, indexOrder } from "./epoch-order.ts";

/** Tasks of one environment in one batch. */
export interface TaskBatch {
  readonly environment: TrainingEnvironment;
  readonly tasks: readonly TaskId[];
}

/**
 * Draws training tasks: environments by weight, tasks of each without replacement within an epoch, in random order or, where the
 * environment orders its split (a curriculum), by index.
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

/** @param name of the order's randomness; one order for each use in a stage */
export function taskOrder(context: AlgorithmContext, name: string): TaskOrder {
  const sources = context.environments.map((environment, i) => ({
    environment,
    order: trainOrder(environment, `${name}/${i}`, context.seed),
    drawn: 0,
  }));
  const totalWeight = sources.reduce((sum, { environment }) => sum + environment.weight, 0);
  return {
    take(count) {
      const batches = sources.map(({ environment }) => ({ environment, tasks: [] as TaskId[] }));
      for (let i = 0; i < count; i++) {
        // The environment that is furthest behind its share: exact proportions over time, without chance.
        const drawn = sources.reduce((sum, source) => sum + source.drawn, 0) + 1;
        const behind = sources.map((source) => (source.environment.weight / totalWeight) * drawn - source.drawn);
        const next = behind.indexOf(Math.max(...behind));
        const source = sources[next] as (typeof sources)[number];
        source.drawn++;
        batches[next]?.tasks.push(`train/${source.order.take(1)[0]}`);
      }
      return batches.filter(({ tasks }) => tasks.length > 0);
    },
    state: () => ({ drawn: sources.map((source) => source.drawn), positions: sources.map((source) => source.order.position()) }),
    restore(state) {
      for (const [i, source] of sources.entries()) {
        source.drawn = (state["drawn"] as number[])[i] as number;
        source.order.seek((state["positions"] as number[])[i] as number);
      }
    },
  };
}

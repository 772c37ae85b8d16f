import { epochOrder, type EpochOrder, taskOrder } from "@mrlm/kit";
import { type AlgorithmContext, type JsonObject, MrlmError } from "@mrlm/spec";
import { collectPairs, type CollectedPairs } from "./episode-pairs.ts";
import { pairsFromFile } from "./file-pairs.ts";
import type { DpoOptions } from "./options.ts";
import { type Pair, pairFromJson, pairToJson } from "./pair.ts";

/** Pairs to learn from, in a random order without replacement in each epoch. */
export interface Preferences {
  /** Plays episodes if it is time to, before step number `step` (the first is 1). */
  refresh(step: number): Promise<CollectedPairs | undefined>;
  readonly pairs: readonly Pair[];
  /** Rounds of collection so far: the same number, the same pairs. */
  readonly round: number;
  /** Indices of the next pairs. */
  take(count: number): number[];
  /** Passes over the present pairs. */
  epochs(): number;
  state(): JsonObject;
  restore(state: JsonObject): void;
}

/** From the file if there is one, else from episodes. */
export async function preferences(context: AlgorithmContext, options: DpoOptions): Promise<Preferences> {
  const tasks = options.data === undefined ? taskOrder(context, "dpo/tasks") : undefined;
  let pairs: readonly Pair[] = options.data === undefined ? [] : await pairsFromFile(context, options.data, options.pairs_per_group);
  let round = 0;
  let order: EpochOrder | undefined;
  const begin = (): EpochOrder => {
    if (pairs.length === 0) {
      throw new MrlmError("DATA_INVALID", "There is not one pair to learn from.", {
        hint: options.data === undefined ? "In every group that was played all episodes earned the same: play more tasks, larger groups, or easier tasks." : "The file has no rows, or in each of its groups all episodes earned the same.",
      });
    }
    return epochOrder(pairs.length, `dpo/order/${round}`, context.seed);
  };
  if (tasks === undefined) order = begin();
  return {
    async refresh(step) {
      const isDue = round === 0 || (options.collect_every > 0 && (step - 1) % options.collect_every === 0);
      if (tasks === undefined || !isDue) return undefined;
      const collected = await collectPairs(context, options, tasks, round + 1);
      round++;
      pairs = collected.pairs;
      order = begin();
      return collected;
    },
    get pairs() {
      return pairs;
    },
    get round() {
      return round;
    },
    take: (count) => (order as EpochOrder).take(count),
    epochs: () => (order?.position() ?? 0) / pairs.length,
    state: () => ({ round, position: order?.position() ?? 0, ...(tasks === undefined ? {} : { tasks: tasks.state(), pairs: pairs.map(pairToJson) }) }),
    restore(state) {
      round = Number(state["round"]);
      if (tasks !== undefined) {
        tasks.restore(state["tasks"] as JsonObject);
        pairs = (state["pairs"] as JsonObject[]).map(pairFromJson);
        order = begin();
      }
      order?.seek(Number(state["position"]));
    },
  };
}

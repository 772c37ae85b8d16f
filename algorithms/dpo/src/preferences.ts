import { epochOrder, type EpochOrder, type TaskOrder, taskOrder } from "@mrlm/kit/learning";
import { type AlgorithmContext, type JsonObject, MrlmError } from "@mrlm/spec";
import { collectPairs, type CollectedPairs } from "./episode-pairs.ts";
import { pairsFromFile } from "./file-pairs.ts";
import type { DpoOptions } from "./options.ts";
import { type Pair, pairFromJson, pairToJson } from "./pair.ts";

/** Pairs to train on, in a random order without replacement in each epoch. */
export interface Preferences {
  /** Whether to play episodes before step number `step` (the first is 1): by the schedule, and at each step until there is a pair. */
  isDue(step: number): boolean;
  /** Plays one round of episodes. Their pairs replace the current pairs. A round without a pair leaves the current pairs. */
  collect(): Promise<CollectedPairs>;
  readonly pairs: readonly Pair[];
  /** Rounds of collection so far. */
  readonly round: number;
  /** Round in which `pairs` were played. Equal numbers mean equal pairs. */
  readonly pairsRound: number;
  /** Indices of the next pairs. There must be one. */
  take(count: number): number[];
  /** Passes over the current pairs. */
  epochs(): number;
  state(): JsonObject;
  restore(state: JsonObject): void;
}

/** Opens the pairs of the file, or without a file those of episodes. */
export async function preferences(context: AlgorithmContext, options: DpoOptions): Promise<Preferences> {
  const tasks = options.data === undefined ? taskOrder(context, "dpo/tasks") : undefined;
  let pairs: readonly Pair[] =
    options.data === undefined ? [] : await pairsFromFile(context, options.data, options.pairs_per_group);
  let round = 0;
  let pairsRound = 0;
  const orderOf = (): EpochOrder | undefined =>
    pairs.length === 0 ? undefined : epochOrder(pairs.length, `dpo/order/${pairsRound}`, context.seed);
  let order = orderOf();
  if (tasks === undefined && order === undefined)
    throw withoutPairs("The file has no rows, or in each of its groups all episodes have the same reward.");
  return {
    isDue: (step) =>
      tasks !== undefined &&
      (order === undefined || (options.collect_every > 0 && step > 1 && (step - 1) % options.collect_every === 0)),
    async collect() {
      const collected = await collectPairs(context, options, tasks as TaskOrder, round + 1);
      round++;
      if (collected.pairs.length === 0) return collected;
      pairs = collected.pairs;
      pairsRound = round;
      order = orderOf();
      return collected;
    },
    get pairs() {
      return pairs;
    },
    get round() {
      return round;
    },
    get pairsRound() {
      return pairsRound;
    },
    take: (count) => (order as EpochOrder).take(count),
    epochs: () => (order === undefined ? 0 : order.position() / pairs.length),
    state: () => ({
      round,
      pairsRound,
      position: order?.position() ?? 0,
      ...(tasks === undefined ? {} : { tasks: tasks.state(), pairs: pairs.map(pairToJson) }),
    }),
    restore(state) {
      round = Number(state["round"]);
      pairsRound = Number(state["pairsRound"]);
      if (tasks !== undefined) {
        tasks.restore(state["tasks"] as JsonObject);
        pairs = (state["pairs"] as JsonObject[]).map(pairFromJson);
        order = orderOf();
      }
      order?.seek(Number(state["position"]));
    },
  };
}

/** Creates the error of a stage without a pair to train on. */
export function withoutPairs(hint: string): MrlmError {
  return new MrlmError("DATA_INVALID", "There is not one pair to learn from.", { hint });
}

import { type AlgorithmContext, epochOrder, type EpochOrder, type JsonObject, MrlmError } from "@mrlm/kit/learning";
import { collectPairs, type CollectedPairs } from "./episode-pairs.ts";
import { pairsFromFile } from "./file-pairs.ts";
import type { DpoSettings } from "./options.ts";
import { type Pair, pairFromJson, pairToJson } from "./pair.ts";

/** Pairs to train on, in a random order without replacement in each epoch. */
export interface Preferences {
  /** Takes one round of episodes. Their pairs replace the current pairs. A round without a pair leaves the current pairs. */
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
export async function preferences(context: AlgorithmContext, options: DpoSettings): Promise<Preferences> {
  const { data } = options;
  let pairs: readonly Pair[] = data === undefined ? [] : await pairsFromFile(context, data, options);
  let round = 0;
  let pairsRound = 0;
  const orderOf = (): EpochOrder | undefined =>
    pairs.length === 0 ? undefined : epochOrder(pairs.length, `dpo/order/${pairsRound}`, context.seed);
  let order = orderOf();
  if (data !== undefined && order === undefined)
    throw withoutPairs("The file has no rows, or in each of its groups all episodes have the same reward.");
  return {
    async collect() {
      const collected = await collectPairs(context, options);
      round++;
      if (collected.pairs.length > 0) {
        [pairs, pairsRound] = [collected.pairs, round];
        order = orderOf();
      }
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
      ...(data === undefined ? { pairs: pairs.map(pairToJson) } : {}),
    }),
    restore(state) {
      round = Number(state["round"]);
      pairsRound = Number(state["pairsRound"]);
      if (data === undefined) {
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

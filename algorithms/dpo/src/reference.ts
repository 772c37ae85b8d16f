import type { AlgorithmContext, JsonObject, ModelId } from "@mrlm/kit/learning";
import { lossEntry } from "./losses/index.ts";
import type { DpoSettings } from "./options.ts";
import { type Pair, pairSums, type PairSums, unitOf } from "./pair.ts";

/** Log-probabilities of the policy before the first step. */
export interface Reference {
  /** Called for each new set of pairs, before the first step on it. */
  prepare(pairs: readonly Pair[]): Promise<void>;
  sums(indices: readonly number[], pairs: readonly Pair[]): Promise<PairSums[]>;
  state(): JsonObject;
  restore(state: JsonObject): void;
}

/** Whether the loss compares with a reference at all. */
export function needsReference({ loss, reference_free }: DpoSettings): boolean {
  return lossEntry(loss).needs !== "nothing" && !reference_free;
}

/** Whether the reference is a separate model. It is not if all of its log-probabilities are computed before the first step. */
export function holdsReference(options: DpoSettings): boolean {
  const isKnownAtOnce =
    options.reference === "precomputed" &&
    (options.data !== undefined || options.collect_every === 0) &&
    lossEntry(options.loss).needs !== "divergence";
  return needsReference(options) && !isKnownAtOnce;
}

/**
 * Creates the reference: a frozen copy of the policy (with adapters: the policy without them), evaluated for each batch or once for all pairs. In the
 * second case no copy is made, except where later rounds make new pairs or the loss estimates a divergence.
 */
export async function reference(context: AlgorithmContext, options: DpoSettings): Promise<Reference> {
  const isOnce = options.reference === "precomputed";
  const model: ModelId = holdsReference(options) ? await context.reference() : context.policy;
  let known: readonly PairSums[] = [];
  const evaluate = (pairs: readonly Pair[]): Promise<PairSums[]> => logprobSums(context, model, pairs);
  return {
    async prepare(pairs) {
      if (isOnce && needsReference(options)) known = await evaluate(pairs);
    },
    async sums(indices, pairs) {
      if (!needsReference(options)) return indices.map(() => ({ chosen: 0, rejected: 0 }));
      return isOnce
        ? indices.map((index) => known[index] as PairSums)
        : evaluate(indices.map((index) => pairs[index] as Pair));
    },
    state: () => ({ known: known.map(({ chosen, rejected }) => [chosen, rejected]) }),
    restore(state) {
      known = (state["known"] as [number, number][]).map(([chosen, rejected]) => ({ chosen, rejected }));
    },
  };
}

/** Returns the sums of both answers of each pair under a model. */
export async function logprobSums(
  context: AlgorithmContext,
  model: ModelId,
  pairs: readonly Pair[],
): Promise<PairSums[]> {
  const outputs = await context.engine.forward({
    model,
    units: pairs.map(unitOf),
    outputs: { logprob: true },
    signal: context.signal,
  });
  return outputs.map((output, i) => pairSums(pairs[i] as Pair, output));
}

import type { AlgorithmContext, EngineSequence, ModelId } from "@mrlm/kit/learning";
import type { Pair } from "./pair.ts";
import { logprobSums } from "./reference.ts";

/** Baseline of KTO for one batch. */
export interface Divergence {
  /** Estimate of KL(π‖ref) in nats, at least 0. */
  readonly value: number;
  /** Number of answers that were cut, because with the other prompt they are longer than the model's positions, of all answers. */
  readonly cut: { readonly sum: number; readonly count: number };
}

/**
 * Estimates KL(π‖ref) for KTO (arXiv 2402.01306, section 4.1): the mean of log π - log ref over answers after the prompt of another pair or single answer of
 * the batch, at least 0. The estimate is a constant to the gradient. An answer that is too long with the other prompt is cut. At least one token of it fits,
 * because each prompt fits with its own answer.
 */
export async function mismatchedDivergence(context: AlgorithmContext, pairs: readonly Pair[]): Promise<Divergence> {
  const count = pairs.reduce(
    (sum, { chosen, rejected }) => sum + Math.sign(chosen.length) + Math.sign(rejected.length),
    0,
  );
  const cut = { sum: 0, count };
  if (pairs.length < 2) return { value: 0, cut };
  const { models } = await context.engine.describe();
  const longest = models.find(({ model }) => model === context.policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  const joined = (asked: readonly EngineSequence[], answered: readonly EngineSequence[]): EngineSequence[] => {
    if (answered.length === 0) return [];
    const { tokens, mask } = join(asked, answered);
    if (tokens.length <= longest) return [{ tokens, mask }];
    cut.sum++;
    return [{ tokens: tokens.subarray(0, longest), mask: mask.subarray(0, longest) }];
  };
  const shifted = pairs.map((pair, i): Pair => {
    const next = pairs[(i + 1) % pairs.length] as Pair;
    const asked = (own: readonly EngineSequence[]): readonly EngineSequence[] =>
      [own, pair.chosen, pair.rejected].find(({ length }) => length > 0) ?? [];
    return {
      chosen: joined(asked(pair.chosen), next.chosen),
      rejected: joined(asked(pair.rejected), next.rejected),
    };
  });
  const under = async (model: ModelId): Promise<number> =>
    (await logprobSums(context, model, shifted)).reduce((sum, { chosen, rejected }) => sum + chosen + rejected, 0);
  const difference = (await under(context.policy)) - (await under(await context.reference()));
  return { value: Math.max(0, difference / count), cut };
}

/** Joins the prompt of the first answer and the response in the first sequence of the other. */
function join([asked]: readonly EngineSequence[], [answered]: readonly EngineSequence[]): EngineSequence {
  const prompt = (asked as EngineSequence).tokens.subarray(0, (asked as EngineSequence).mask.indexOf(1));
  const { tokens, mask } = answered as EngineSequence;
  const response = tokens.filter((_, t) => mask[t] === 1);
  return {
    tokens: Int32Array.of(...prompt, ...response),
    mask: Uint8Array.of(...prompt.map(() => 0), ...response.map(() => 1)),
  };
}

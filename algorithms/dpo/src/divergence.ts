import type { AlgorithmContext, EngineSequence, ModelId } from "@mrlm/spec";
import type { Pair } from "./pair.ts";
import { logprobSums } from "./reference.ts";

/**
 * KTO's estimate of KL(π‖ref) (arXiv 2402.01306, section 4.1): the mean of logπ - logref over answers that belong to the prompt of another pair of
 * the batch, no less than 0. It is a constant to the gradient.
 */
export async function mismatchedDivergence(context: AlgorithmContext, pairs: readonly Pair[]): Promise<number> {
  if (pairs.length < 2) return 0;
  const shifted = pairs.map((pair, i): Pair => {
    const next = pairs[(i + 1) % pairs.length] as Pair;
    return { chosen: [join(pair.chosen, next.chosen)], rejected: [join(pair.rejected, next.rejected)] };
  });
  const under = async (model: ModelId): Promise<number> => (await logprobSums(context, model, shifted)).reduce((sum, { chosen, rejected }) => sum + chosen + rejected, 0);
  const difference = (await under(context.policy)) - (await under(await context.reference()));
  return Math.max(0, difference / (2 * pairs.length));
}

/** The prompt of the first answer with what was said in the first sequence of the other. */
function join([asked]: readonly EngineSequence[], [answered]: readonly EngineSequence[]): EngineSequence {
  const prompt = (asked as EngineSequence).tokens.subarray(0, (asked as EngineSequence).mask.indexOf(1));
  const { tokens, mask } = answered as EngineSequence;
  const said = tokens.filter((_, t) => mask[t] === 1);
  return { tokens: Int32Array.of(...prompt, ...said), mask: Uint8Array.of(...prompt.map(() => 0), ...said.map(() => 1)) };
}

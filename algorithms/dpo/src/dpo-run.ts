import { episodeMetrics, meanOf, optimStepOptions, playSeconds } from "@mrlm/kit";
import type { AlgorithmContext, AlgorithmRun, IterationReport, JsonObject } from "@mrlm/spec";
import { batchMetrics, type PairOutcome } from "./batch-metrics.ts";
import { mismatchedDivergence } from "./divergence.ts";
import type { CollectedPairs } from "./episode-pairs.ts";
import type { DpoOptions } from "./options.ts";
import { answerTokens, isUnfinished, type Pair, pairSums, type PairSums, unitOf } from "./pair.ts";
import { type AnswerLogprobs, preferenceLoss } from "./preference-loss.ts";
import { preferences } from "./preferences.ts";
import { reference } from "./reference.ts";

/** Direct preference optimisation: pairs from a file or from episodes, compared with the policy as it was at the beginning. */
export async function startDpo(context: AlgorithmContext, options: DpoOptions): Promise<AlgorithmRun> {
  const data = await preferences(context, options);
  const before = await reference(context, options);
  let step = 0;
  let preparedRound = -1;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const collected = await playIfDue();
    const played = performance.now();
    if (preparedRound !== data.round) {
      await before.prepare(data.pairs);
      preparedRound = data.round;
    }
    const indices = data.take(options.batch_size);
    const pairs = indices.map((index) => data.pairs[index] as Pair);
    const { outcomes, computedTokens } = await accumulate(pairs, await before.sums(indices, data.pairs));
    const update = optimStepOptions(options, step + 1, options.steps);
    const applied = await context.engine.optimStep({ model: context.policy, ...update });
    step++;
    return {
      iteration: step,
      metrics: {
        ...batchMetrics(outcomes, options.beta),
        ...(collected === undefined ? {} : { ...episodeMetrics(collected.groups, collected.counts), "groups/paired": { sum: collected.pairs.length, count: collected.groups.length } }),
        ...(applied.applied ? { "optim/grad_norm": applied.gradNorm } : {}),
        "optim/learning_rate": update.learningRate,
        "optim/skipped": Number(!applied.applied),
        "tokens/computed": computedTokens,
        "data/pairs": data.pairs.length,
        "data/epoch": data.epochs(),
      },
      seconds: {
        ...(collected === undefined ? {} : playSeconds(collected.groups, (played - began) / 1000)),
        training: (performance.now() - played) / 1000,
      },
      ...(collected === undefined ? {} : { trajectories: collected.groups }),
      ...(applied.applied ? {} : { notices: [`Step ${step} was skipped: ${applied.skippedReason ?? "the gradient norm was not finite"}`] }),
    };
  }

  async function playIfDue(): Promise<CollectedPairs | undefined> {
    // Episodes are played by what has been learnt so far.
    const isLater = options.data === undefined && options.collect_every > 0 && step > 0 && step % options.collect_every === 0;
    if (isLater) await context.engine.publish(context.policy);
    return data.refresh(step + 1);
  }

  async function accumulate(pairs: readonly Pair[], references: readonly PairSums[]): Promise<{ outcomes: PairOutcome[]; computedTokens: number }> {
    const divergence = options.loss === "kto" ? await mismatchedDivergence(context, pairs) : 0;
    const outcomes: PairOutcome[] = [];
    const { stopTokenIds } = context.renderer;
    const { computedTokens } = await context.engine.forwardBackward({
      model: context.policy,
      units: pairs.map(unitOf),
      outputs: { logprob: true, entropy: true },
      normalizer: pairs.length,
      loss(unit, outputs) {
        const pair = pairs[unit] as Pair;
        const [policy, frozen] = [pairSums(pair, outputs), references[unit] as PairSums];
        const answer = (name: keyof PairSums): AnswerLogprobs => ({ policy: policy[name], reference: frozen[name], tokens: answerTokens(pair[name]) });
        const [chosen, rejected] = [answer("chosen"), answer("rejected")];
        const { loss, chosenSlope, rejectedSlope } = preferenceLoss(chosen, rejected, options, divergence);
        const isCut = { chosen: isUnfinished(pair.chosen, stopTokenIds), rejected: isUnfinished(pair.rejected, stopTokenIds) };
        outcomes[unit] = { loss, chosen, rejected, entropy: meanOf(outputs.entropy ?? []), isCut };
        return { logprob: new Float32Array(chosen.tokens + rejected.tokens).fill(chosenSlope, 0, chosen.tokens).fill(rejectedSlope, chosen.tokens) };
      },
      signal: context.signal,
    });
    return { outcomes, computedTokens };
  }

  return {
    async *run() {
      while (step < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ step, preparedRound, data: data.state(), reference: before.state() }),
    restore(state) {
      step = Number(state["step"]);
      preparedRound = Number(state["preparedRound"]);
      data.restore(state["data"] as JsonObject);
      before.restore(state["reference"] as JsonObject);
    },
  };
}

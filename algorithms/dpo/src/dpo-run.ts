import {
  type AlgorithmContext,
  type AlgorithmRun,
  type Credit,
  episodeMetrics,
  type IterationReport,
  type JsonObject,
  meanOf,
  type Metrics,
  trainStep,
  type TrainStepResult,
} from "@mrlm/kit/learning";
import { batchMetrics, type PairOutcome } from "./batch-metrics.ts";
import { type Divergence, mismatchedDivergence } from "./divergence.ts";
import type { CollectedPairs } from "./episode-pairs.ts";
import { lossEntry, preferenceLoss } from "./losses/index.ts";
import type { AnswerLogprobs } from "./losses/pair-loss.ts";
import type { DpoSettings } from "./options.ts";
import { answerTokens, isUnfinished, type Pair, pairCredits, pairSums, type PairSums, unitOf } from "./pair.ts";
import { preferences, withoutPairs } from "./preferences.ts";
import { reference } from "./reference.ts";

/** Starts direct preference optimization on pairs from a file or from episodes. The reference is the policy at the start of the stage. */
export async function startDpo(context: AlgorithmContext, options: DpoSettings): Promise<AlgorithmRun> {
  const data = await preferences(context, options);
  const before = await reference(context, options);
  let step = 0;
  let preparedRound = -1;
  const noPair =
    options.desirable_reward === undefined
      ? "in no group do the rewards of two scored episodes differ"
      : `the scored episodes are all on one side of desirable_reward: ${options.desirable_reward}`;

  async function iterate(): Promise<IterationReport> {
    const isDue = options.data === undefined && step % (options.collect_every || options.steps) === 0;
    const collected = isDue ? await data.collect() : undefined;
    const began = performance.now();
    if (data.pairs.length === 0) return reportWithoutPairs(collected);
    if (preparedRound !== data.pairsRound) {
      await before.prepare(data.pairs);
      preparedRound = data.pairsRound;
    }
    const indices = data.take(options.batch_size);
    const pairs = indices.map((index) => data.pairs[index] as Pair);
    const { outcomes, divergence, credits, ...trained } = await trainOn(pairs, await before.sums(indices, data.pairs));
    step++;
    return {
      iteration: step,
      metrics: {
        ...batchMetrics(outcomes, options),
        ...(divergence && { "kto/divergence": divergence.value, "kto/mismatched_cut": divergence.cut }),
        ...(collected && roundMetrics(collected, context)),
        ...trained.metrics,
        "tokens/computed": trained.pass.computedTokens,
        "data/pairs": data.pairs.length,
        "data/epoch": data.epochs(),
      },
      seconds: { training: (performance.now() - began) / 1000 },
      // Pairs of an earlier round than the last one are of an earlier batch, which has its credits.
      credits: data.pairsRound === data.round ? credits : [],
      notices: [
        ...(collected?.pairs.length === 0
          ? [
              `Round ${data.round} of episodes made no pair (${noPair}): the ${data.pairs.length} pairs of round ${data.pairsRound} stay`,
            ]
          : []),
        ...trained.notices,
      ],
    };
  }

  /** Skips a step before the first pair. Throws DATA_INVALID if no later step takes episodes. */
  function reportWithoutPairs(collected: CollectedPairs | undefined): IterationReport {
    step++;
    if (collected === undefined) return { iteration: step, metrics: { "data/pairs": 0 }, seconds: {} };
    const next = step + options.collect_every;
    if (options.collect_every === 0 || next > options.steps) {
      throw withoutPairs(
        `In the ${collected.groups.length} groups of the last round nothing could be compared: ${noPair}. Episodes with different rewards come from more tasks, larger groups, or easier tasks.`,
      );
    }
    return {
      iteration: step,
      metrics: { ...roundMetrics(collected, context), "data/pairs": 0 },
      seconds: {},
      notices: [
        `Round ${data.round} of episodes made no pair (${noPair}): the weights stay as they are until step ${next}, which plays other tasks`,
      ],
    };
  }

  async function trainOn(
    pairs: readonly Pair[],
    references: readonly PairSums[],
  ): Promise<TrainStepResult & { outcomes: PairOutcome[]; divergence: Divergence | undefined; credits: Credit[] }> {
    const divergence =
      lossEntry(options.loss).needs === "divergence" ? await mismatchedDivergence(context, pairs) : undefined;
    const outcomes: PairOutcome[] = [];
    // A batch beyond the end of an epoch may have a pair twice.
    const credits = new Map<Pair, Credit[]>();
    const { stopTokenIds } = context.renderer;
    const trained = await trainStep(context, {
      model: context.policy,
      units: pairs.map(unitOf),
      outputs: { logprob: true, entropy: true },
      normalizer: pairs.length,
      loss(unit, outputs) {
        const pair = pairs[unit] as Pair;
        const [policy, frozen] = [pairSums(pair, outputs), references[unit] as PairSums];
        const answer = (name: keyof PairSums): AnswerLogprobs => ({
          policy: policy[name],
          reference: frozen[name],
          tokens: answerTokens(pair[name]),
        });
        const [chosen, rejected] = [answer("chosen"), answer("rejected")];
        const { loss, chosenSlope, rejectedSlope } = preferenceLoss(chosen, rejected, options, divergence?.value);
        const entropy = meanOf(outputs.entropy ?? []);
        const cut = (name: keyof PairSums): boolean => isUnfinished(pair[name], stopTokenIds);
        const isCut = { chosen: cut("chosen"), rejected: cut("rejected") };
        credits.set(pair, pairCredits(pair, chosenSlope, rejectedSlope));
        outcomes[unit] = { loss, chosen, rejected, entropy, isCut };
        return {
          logprob: new Float32Array(chosen.tokens + rejected.tokens)
            .fill(chosenSlope, 0, chosen.tokens)
            .fill(rejectedSlope, chosen.tokens),
        };
      },
      optimizer: options,
      step: step + 1,
      totalSteps: options.steps,
    });
    return { ...trained, outcomes, divergence, credits: [...credits.values()].flat() };
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

function roundMetrics({ groups, counts, pairs }: CollectedPairs, context: AlgorithmContext): Metrics {
  return { ...episodeMetrics(groups, counts, context), "groups/paired": { sum: pairs.length, count: groups.length } };
}

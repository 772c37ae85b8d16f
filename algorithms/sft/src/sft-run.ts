import {
  type AlgorithmContext,
  type AlgorithmRun,
  type IterationReport,
  type JsonObject,
  trainStep,
} from "@mrlm/kit/learning";
import { openConversations } from "./conversations.ts";
import { sftBatch } from "./loss.ts";
import type { SftOptions } from "./options.ts";
import { targetMetrics } from "./target-metrics.ts";

/** Starts supervised fine-tuning: behavioural cloning of demonstrations or of the conversations in a file. */
export async function startSft(context: AlgorithmContext, options: SftOptions): Promise<AlgorithmRun> {
  const conversations = await openConversations(context, options);
  let step = 0;
  let skipped = 0;

  /** Notices of the sources, reported with the first step. */
  const openingNotices = (): readonly string[] => (step === 1 ? conversations.notices : []);

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const sequences = await conversations.take(options.batch_size);
    const batch = sftBatch(sequences, options.aggregation);
    const prepared = performance.now();
    if (batch.units.length === 0) {
      step++;
      skipped++;
      return {
        iteration: step,
        metrics: { "optim/skipped": 1, "tokens/target": 0, "data/epoch": conversations.epochs() },
        seconds: { environment: (prepared - began) / 1000 },
        notices: [
          ...openingNotices(),
          `Step ${step} had no target token in its ${options.batch_size} conversations and was skipped (${skipped} of ${step} steps so far): raise batch_size, or change max_length, on_overlong or the weights`,
        ],
      };
    }
    const { pass, metrics, notices } = await trainStep(context, {
      model: context.policy,
      units: batch.units,
      outputs: { logprob: true, entropy: true },
      normalizer: batch.normalizer,
      loss: batch.gradients,
      returnOutputs: true,
      optimizer: options,
      step: step + 1,
      totalSteps: options.steps,
    });
    step++;
    return {
      iteration: step,
      metrics: {
        ...targetMetrics(batch, pass.outputs, context.renderer.stopTokenIds),
        ...metrics,
        "tokens/target": batch.targetTokens,
        "tokens/computed": pass.computedTokens,
        "data/epoch": conversations.epochs(),
      },
      seconds: { environment: (prepared - began) / 1000, training: (performance.now() - prepared) / 1000 },
      notices: [...openingNotices(), ...notices],
    };
  }

  return {
    async *run() {
      while (step < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ step, skipped, conversations: conversations.state() }),
    restore(state) {
      step = Number(state["step"]);
      skipped = Number(state["skipped"]);
      conversations.restore(state["conversations"] as JsonObject);
    },
  };
}

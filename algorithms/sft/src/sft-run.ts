import { optimStepOptions } from "@mrlm/kit";
import type { AlgorithmContext, AlgorithmRun, IterationReport, JsonObject } from "@mrlm/spec";
import { openConversations } from "./conversations.ts";
import { sftBatch } from "./loss.ts";
import type { SftOptions } from "./options.ts";
import { targetMetrics } from "./target-metrics.ts";

/** Supervised fine-tuning: behavioural cloning of demonstrations or of the conversations in a file. */
export async function startSft(context: AlgorithmContext, options: SftOptions): Promise<AlgorithmRun> {
  const conversations = await openConversations(context, options);
  let step = 0;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const sequences = await conversations.take(options.batch_size);
    const batch = sftBatch(sequences, options.aggregation);
    const prepared = performance.now();
    const pass = await context.engine.forwardBackward({
      model: context.policy,
      units: batch.units,
      outputs: { logprob: true, entropy: true },
      normalizer: batch.normalizer,
      loss: batch.gradients,
      returnOutputs: true,
      signal: context.signal,
    });
    const update = optimStepOptions(options, step + 1, options.steps);
    const applied = await context.engine.optimStep({ model: context.policy, ...update });
    step++;
    return {
      iteration: step,
      metrics: {
        ...targetMetrics(batch, pass.outputs, context.renderer.stopTokenIds),
        ...(applied.applied ? { "optim/grad_norm": applied.gradNorm } : {}),
        "optim/skipped": Number(!applied.applied),
        "optim/learning_rate": update.learningRate,
        "tokens/target": batch.targetTokens,
        "tokens/computed": pass.computedTokens,
        "data/epoch": conversations.epochs(),
      },
      seconds: { environment: (prepared - began) / 1000, training: (performance.now() - prepared) / 1000 },
      notices: [...(step === 1 ? conversations.notices : []), ...(applied.applied ? [] : [`Step ${step} was skipped: ${applied.skippedReason ?? "the gradient norm was not finite"}`])],
    };
  }

  return {
    async *run() {
      while (step < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ step, conversations: conversations.state() }),
    restore(state) {
      step = Number(state["step"]);
      conversations.restore(state["conversations"] as JsonObject);
    },
  };
}

import { optimStepOptions } from "@mrlm/kit";
import { type AlgorithmContext, type AlgorithmRun, type IterationReport, type JsonObject, type Metrics, type UnitOutputs } from "@mrlm/spec";
import { openConversations } from "./conversations.ts";
import { sftBatch } from "./loss.ts";
import type { SftOptions } from "./options.ts";

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
      outputs: { logprob: true },
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
        ...negativeLogLikelihoods(pass.outputs, batch.observed),
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

/** In nats a token, of actions and of observations, whatever their weights and the aggregation. */
function negativeLogLikelihoods(outputs: readonly UnitOutputs[], observed: readonly Uint8Array[]): Metrics {
  const sums = [0, 0];
  const counts = [0, 0];
  for (const [unit, { logprob = new Float32Array() }] of outputs.entries()) {
    for (const [t, value] of logprob.entries()) {
      const kind = observed[unit]?.[t] as 0 | 1;
      sums[kind] = (sums[kind] as number) - value;
      counts[kind] = (counts[kind] as number) + 1;
    }
  }
  const [actions, observations] = [0, 1].map((kind) => ({ sum: sums[kind] as number, count: counts[kind] as number }));
  return { ...(actions?.count ? { "loss/nll": actions } : {}), ...(observations?.count ? { "loss/nll_observed": observations } : {}) };
}

import { epochOrder, optimStepOptions } from "@mrlm/kit";
import { type AlgorithmContext, type AlgorithmRun, type IterationReport, type JsonObject, type Mean, MrlmError, type UnitOutputs } from "@mrlm/spec";
import { conversationsFromEnvironments, conversationsFromFile } from "./conversations.ts";
import { sftBatch } from "./loss.ts";
import type { SftOptions } from "./options.ts";

/** Supervised fine-tuning: behavioural cloning of demonstrations or of the conversations in a file. */
export async function startSft(context: AlgorithmContext, options: SftOptions): Promise<AlgorithmRun> {
  const { data } = options;
  const conversations = await (data === undefined ? conversationsFromEnvironments(context, options) : conversationsFromFile(context, { ...options, data }));
  if (conversations.size === 0) throw new MrlmError("DATA_INVALID", ["There is not one conversation to learn from.", ...conversations.notices].join(" "));
  const order = epochOrder(conversations.size, "sft/order", context.seed);
  let step = 0;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const sequences = await conversations.get(order.take(options.batch_size));
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
        "loss/nll": negativeLogLikelihood(pass.outputs),
        ...(applied.applied ? { "optim/grad_norm": applied.gradNorm } : {}),
        "optim/skipped": Number(!applied.applied),
        "optim/learning_rate": update.learningRate,
        "tokens/target": batch.targetTokens,
        "tokens/computed": pass.computedTokens,
        "data/epoch": order.position() / conversations.size,
      },
      seconds: { environment: (prepared - began) / 1000, training: (performance.now() - prepared) / 1000 },
      notices: [...(step === 1 ? conversations.notices : []), ...(applied.applied ? [] : [`Step ${step} was skipped: ${applied.skippedReason ?? "the gradient norm was not finite"}`])],
    };
  }

  return {
    async *run() {
      while (step < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ step, position: order.position() }),
    restore(state) {
      step = Number(state["step"]);
      order.seek(Number(state["position"]));
    },
  };
}

/** In nats per token, over all tokens whatever the aggregation. */
function negativeLogLikelihood(outputs: readonly UnitOutputs[]): Mean {
  let sum = 0;
  let count = 0;
  for (const { logprob = new Float32Array() } of outputs) {
    for (const value of logprob) sum -= value;
    count += logprob.length;
  }
  return { sum, count };
}

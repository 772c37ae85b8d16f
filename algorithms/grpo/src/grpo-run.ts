import { episodeMetrics, playSeconds, taskOrder } from "@mrlm/kit";
import { type AlgorithmContext, type AlgorithmRun, type IterationReport, type JsonObject, MrlmError } from "@mrlm/spec";
import { collect } from "./collect.ts";
import type { GrpoOptions } from "./options.ts";
import { update } from "./update.ts";

/** Group relative policy optimisation: play groups, compare their members, learn, publish. */
export function startGrpo(context: AlgorithmContext, options: GrpoOptions): AlgorithmRun {
  assertTrainable(context, options);
  const order = taskOrder(context, "grpo/tasks");
  let iteration = 0;
  let optimizerSteps = 0;
  let version = 0;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const collected = await collect(context, options, order, iteration + 1, version);
    const played = performance.now();
    const report = collected.samples.length === 0 ? undefined : await update(context, options, collected.samples, optimizerSteps);
    const learnt = performance.now();
    version = (await context.engine.publish(context.policy)).version;
    optimizerSteps += report?.optimizerSteps ?? 0;
    iteration++;
    return {
      iteration,
      metrics: {
        ...episodeMetrics(collected.groups, collected.counts),
        "groups/without_signal": { sum: collected.withoutSignal, count: collected.groups.length },
        "groups/refills": collected.refills,
        ...report?.loss.report(report.normalizer),
        ...(report === undefined ? {} : { "optim/grad_norm": report.gradNorm, "optim/skipped": report.skipped, "optim/learning_rate": report.learningRate, "tokens/computed": report.computedTokens }),
      },
      seconds: {
        ...playSeconds(collected.groups, (played - began) / 1000),
        training: (learnt - played) / 1000,
        publish: (performance.now() - learnt) / 1000,
      },
      trajectories: collected.groups,
      notices: [
        ...(report?.notices ?? []),
        ...(report === undefined ? ["No episode of this iteration could be learnt from; the weights stay as they were"] : []),
      ],
    };
  }

  return {
    async *run() {
      while (iteration < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ iteration, optimizerSteps, version, tasks: order.state() }),
    restore(state) {
      iteration = Number(state["iteration"]);
      optimizerSteps = Number(state["optimizerSteps"]);
      version = Number(state["version"]);
      order.restore(state["tasks"] as JsonObject);
    },
  };
}

/** What can only be told once the run's sampling is known. */
function assertTrainable({ sampling }: AlgorithmContext, options: GrpoOptions): void {
  if (sampling.temperature <= 0) throw new MrlmError("CONFIG_INVALID", "sampling.temperature is 0: all episodes of a group would be the same.");
  if ((sampling.topP ?? 1) < 1 || (sampling.topK ?? 0) > 0) {
    throw new MrlmError("CONFIG_INVALID", "sampling.top_p or top_k cuts the distribution: the trainer's log-probabilities would be those of another one.", {
      hint: "Train with the full distribution and leave top_p and top_k to evaluation.",
    });
  }
  if (options.overlong_buffer >= sampling.maxTokens) {
    throw new MrlmError("CONFIG_INVALID", `overlong_buffer (${options.overlong_buffer}) is not below sampling.max_tokens (${sampling.maxTokens}): every answer would be punished.`);
  }
}

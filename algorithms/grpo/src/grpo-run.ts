import { episodeMetrics, playSeconds, stepMetrics, taskOrder } from "@mrlm/kit/learning";
import { type AlgorithmContext, type AlgorithmRun, type IterationReport, type JsonObject } from "@mrlm/spec";
import { collect } from "./collect.ts";
import type { GrpoOptions } from "./options.ts";
import { update } from "./update.ts";

/** Starts group relative policy optimization. Each iteration plays groups, compares the rewards of their members, updates the policy and publishes it. */
export function startGrpo(context: AlgorithmContext, options: GrpoOptions): AlgorithmRun {
  const order = taskOrder(context, "grpo/tasks");
  let iteration = 0;
  let optimizerSteps = 0;
  let version = 0;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const collected = await collect(context, options, order, iteration + 1, version);
    const played = performance.now();
    const report =
      collected.samples.length === 0 ? undefined : await update(context, options, collected.samples, optimizerSteps);
    const trained = performance.now();
    version = (await context.engine.publish(context.policy)).version;
    optimizerSteps += report?.steps.length ?? 0;
    iteration++;
    return {
      iteration,
      metrics: {
        ...episodeMetrics(collected.groups, collected.counts, context),
        "groups/without_signal": { sum: collected.withoutSignal, count: collected.groups.length },
        "groups/refills": collected.refills,
        ...report?.loss.report(report.normalizer),
        ...(report === undefined
          ? {}
          : {
              ...stepMetrics(report.steps),
              "tokens/computed": report.computedTokens,
            }),
      },
      seconds: {
        ...playSeconds(collected.groups, (played - began) / 1000),
        training: (trained - played) / 1000,
        publish: (performance.now() - trained) / 1000,
      },
      trajectories: collected.groups,
      notices: report?.steps.flatMap((step) => step.notices) ?? [
        "No episode of this iteration can be used for training: the weights stay as they are",
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

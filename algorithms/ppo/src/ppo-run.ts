import { episodeMetrics, meanOf, playGroups, playSeconds, taskOrder } from "@mrlm/kit/learning";
import {
  type AlgorithmContext,
  type AlgorithmRun,
  type IterationReport,
  type JsonObject,
  type Metrics,
} from "@mrlm/spec";
import { type PpoGroup, toEpisodes } from "./batch.ts";
import { ensureCritic } from "./critic.ts";
import { klController } from "./kl-controller.ts";
import { learn } from "./learn.ts";
import type { PpoOptions } from "./options.ts";

/**
 * Starts proximal policy optimization. Each iteration plays episodes, estimates advantages with a critic, updates
 * critic and policy, and publishes the policy.
 */
export async function startPpo(context: AlgorithmContext, options: PpoOptions): Promise<AlgorithmRun> {
  const critic = await ensureCritic(context, options);
  if (options.kl_coefficient > 0) await context.reference();
  const order = taskOrder(context, "ppo/tasks");
  const controller = klController(options);
  let iteration = 0;
  const updates = { policy: 0, critic: 0 };

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const played = await playGroups(
      context,
      order.take(options.prompts_per_step),
      options.group_size,
      `ppo/${iteration + 1}`,
    );
    const afterPlay = performance.now();
    const { groups, counts } = toEpisodes(played, options, context.policy);
    iteration++;
    const trained = groups.length === 0 ? undefined : await trainOn(groups);
    const afterTraining = performance.now();
    await context.engine.publish(context.policy);
    return {
      iteration,
      metrics: { ...episodeMetrics(played, counts, context), ...trained?.metrics },
      seconds: {
        ...playSeconds(played, (afterPlay - began) / 1000),
        training: (afterTraining - afterPlay) / 1000,
        publish: (performance.now() - afterTraining) / 1000,
      },
      trajectories: played,
      notices: trained?.notices ?? [
        "No episode of this iteration can be used for training: the weights stay as they are",
      ],
    };
  }

  async function trainOn(
    groups: readonly PpoGroup[],
  ): Promise<{ readonly metrics: Metrics; readonly notices: readonly string[] }> {
    const { coefficient } = controller;
    const isPolicyLearning = iteration > options.critic_warmup_steps;
    const report = await learn(context, options, groups, {
      critic,
      klCoefficient: coefficient,
      isPolicyLearning,
      stepsBefore: updates,
    });
    updates.critic += report.updates;
    if (isPolicyLearning) updates.policy += report.updates;
    const { divergences } = report;
    if (divergences.length === 0) return report;
    controller.update(divergences.reduce((sum, each) => sum + each, 0) / divergences.length, divergences.length);
    return {
      ...report,
      metrics: { ...report.metrics, "kl/reference": meanOf(divergences), "kl/coefficient": coefficient },
    };
  }

  return {
    async *run() {
      while (iteration < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({
      iteration,
      updates: { ...updates },
      klCoefficient: controller.coefficient,
      tasks: order.state(),
    }),
    restore(state) {
      iteration = Number(state["iteration"]);
      Object.assign(updates, state["updates"]);
      controller.restore(Number(state["klCoefficient"]));
      order.restore(state["tasks"] as JsonObject);
    },
  };
}

import {
  type AlgorithmContext,
  type AlgorithmRun,
  episodeMetrics,
  type IterationReport,
  type JsonObject,
  meanOf,
} from "@mrlm/kit/learning";
import { type PpoGroup, toEpisodes } from "./batch.ts";
import { ensureCritic } from "./critic.ts";
import { klController } from "./kl-controller.ts";
import { learn, type LearnReport } from "./learn.ts";
import type { PpoOptions } from "./options.ts";

/**
 * Starts proximal policy optimization. Each iteration takes episodes, estimates advantages with a critic, and updates
 * critic and policy.
 */
export async function startPpo(context: AlgorithmContext, options: PpoOptions): Promise<AlgorithmRun> {
  const critic = await ensureCritic(context, options);
  if (options.kl_coefficient > 0) await context.reference();
  const controller = klController(options);
  let iteration = 0;
  const updates = { policy: 0, critic: 0 };

  async function iterate(): Promise<IterationReport> {
    const batch = await context.episodes.take();
    const began = performance.now();
    const { groups, counts } = toEpisodes(batch.groups, options, context.policy);
    iteration++;
    const trained = groups.length === 0 ? undefined : await trainOn(groups);
    return {
      iteration,
      metrics: { ...episodeMetrics(batch.played, counts, context), ...trained?.metrics },
      seconds: { training: (performance.now() - began) / 1000 },
      credits: trained?.credits ?? [],
      notices: trained?.notices ?? [
        "No episode of this iteration can be used for training: the weights stay as they are",
      ],
    };
  }

  async function trainOn(groups: readonly PpoGroup[]): Promise<Pick<LearnReport, "metrics" | "notices" | "credits">> {
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
    state: (): JsonObject => ({ iteration, updates: { ...updates }, klCoefficient: controller.coefficient }),
    restore(state) {
      iteration = Number(state["iteration"]);
      Object.assign(updates, state["updates"]);
      controller.restore(Number(state["klCoefficient"]));
    },
  };
}

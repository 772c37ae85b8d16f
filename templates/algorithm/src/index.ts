import {
  type AlgorithmContext,
  type AlgorithmDefinition,
  type AlgorithmRun,
  definePlugin,
  episodeMetrics,
  type IterationReport,
  type LearnableEpisode,
  learnableEpisodes,
  noEpisodeCounts,
  optimizerOptions,
  trainStep,
} from "@mrlm/kit/learning";
import { z } from "zod";

const options = z.strictObject({
  steps: z.int().positive().describe("Iterations: one batch of episodes each"),
  episodes_per_step: z.int().positive().default(64),
  baseline_decay: z.number().min(0).lt(1).default(0.9).describe("Of the moving average of rewards"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});
type Options = z.output<typeof options>;

/** REINFORCE (Williams, Machine Learning 8, 1992) with a moving average of the rewards as its baseline. */
export const reinforce: AlgorithmDefinition<Options> = {
  id: "my-algorithm@1",
  description: "REINFORCE with a moving baseline.",
  options,
  iterations: ({ steps }) => steps,
  plays: ({ episodes_per_step }) => ({ name: "reinforce", groups: episodes_per_step, groupSize: 1 }),
  create: start,
};

function start(context: AlgorithmContext, chosen: Options): AlgorithmRun {
  const { policy } = context;
  let iteration = 0;
  let baseline: number | null = null;

  async function iterate(): Promise<IterationReport> {
    const { groups } = await context.episodes.take();
    const began = performance.now();
    const counts = noEpisodeCounts();
    // Failed and unscored episodes are counted and left out. They are not episodes with a reward of 0.
    const episodes = groups
      .flatMap(({ trajectories }) => trajectories)
      .flatMap((trajectory) => learnableEpisodes(trajectory, { policy, dropCut: false }, counts));
    iteration++;
    const { metrics, ...learnt } = await learnFrom(episodes);
    return {
      iteration,
      metrics: { ...episodeMetrics(groups, counts, { policy }), ...metrics },
      seconds: { training: (performance.now() - began) / 1000 },
      ...learnt,
    };
  }

  async function learnFrom(
    episodes: readonly LearnableEpisode[],
  ): Promise<Pick<IterationReport, "metrics" | "notices" | "credits">> {
    if (episodes.length === 0)
      return { metrics: {}, notices: ["No episode of this iteration has a score: the weights stay as they are"] };
    const mean = episodes.reduce((sum, { reward }) => sum + reward, 0) / episodes.length;
    const before = baseline ?? mean;
    baseline = chosen.baseline_decay * before + (1 - chosen.baseline_decay) * mean;
    // L = - Σ_i Σ_t (r_i - b) logp_it / N. Its derivative is known before the forward pass, so it is sent with the batch.
    const { metrics, notices } = await trainStep(context, {
      model: policy,
      units: episodes.map(({ rows }) => ({ sequences: rows.map(({ tokens, mask }) => ({ tokens, mask })) })),
      outputs: { logprob: true },
      temperature: context.sampling.temperature,
      normalizer: episodes.length,
      loss: episodes.map(({ reward, sampled }) => ({
        logprob: new Float32Array(sampled.length).fill(before - reward),
      })),
      optimizer: chosen,
      step: iteration,
      totalSteps: chosen.steps,
    });
    const credits = episodes.map(({ trajectory: { id }, agent, reward }) => ({
      trajectory: id,
      agent,
      advantage: reward - before,
    }));
    return { metrics: { ...metrics, "reinforce/baseline": before }, notices, credits };
  }

  return {
    async *run() {
      while (iteration < chosen.steps && !context.signal.aborted) yield await iterate();
    },
    // State that a resumed run needs besides the engine's weights and the random streams.
    state: () => ({ iteration, baseline }),
    restore(state) {
      iteration = Number(state["iteration"]);
      baseline = typeof state["baseline"] === "number" ? state["baseline"] : null;
    },
  };
}

export default definePlugin({
  name: "mrlm-my-algorithm",
  algorithms: [reinforce],
  // `mrlm check` and `pluginContract` train a small model with these options.
  examples: {
    algorithms: {
      "my-algorithm@1": { options: { steps: 12, learning_rate: 0.3 }, invalid: [{ steps: 0 }, { baseline_decay: 1 }] },
    },
  },
});

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
  type PolicyId,
  trainStep,
  type TrainStepResult,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import { z } from "zod";

const options = z.strictObject({
  steps: z.int().positive().describe("Iterations: one batch of episodes each"),
  prompts_per_step: z.int().positive().default(16),
  group_size: z.int().min(2).default(8).describe("Episodes of each task; the best is imitated"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-4),
});
type Options = z.output<typeof options>;

/** Behavioural cloning of the best of n: play n episodes of each task and imitate the best, where one was better than another. */
export const bestOfN: AlgorithmDefinition<Options> = {
  id: "best-of-n@1",
  description: "Imitates the best episode of each group.",
  options,
  iterations: ({ steps }) => steps,
  plays: ({ prompts_per_step, group_size }) => ({
    name: "best-of-n",
    groups: prompts_per_step,
    groupSize: group_size,
  }),
  create: start,
};

function start(context: AlgorithmContext, chosen: Options): AlgorithmRun {
  const { policy } = context;
  let iteration = 0;

  async function iterate(): Promise<IterationReport> {
    const { groups } = await context.episodes.take();
    const began = performance.now();
    const counts = noEpisodeCounts();
    const best = groups.flatMap((group) => bestOf(group, policy, counts) ?? []);
    iteration++;
    const trained = best.length === 0 ? undefined : await imitate(best);
    return {
      iteration,
      metrics: {
        ...episodeMetrics(groups, counts, { policy }),
        "groups/without_signal": { sum: groups.length - best.length, count: groups.length },
        ...trained?.metrics,
      },
      seconds: { training: (performance.now() - began) / 1000 },
      notices: trained?.notices ?? ["In no group was one episode better than another: the weights stay as they are"],
    };
  }

  /** Trains on L = - Σ_t logp_t / Σ n over the tokens of the best episodes. The derivative is known beforehand and is sent with the batch. */
  const imitate = (best: readonly LearnableEpisode[]): Promise<TrainStepResult> =>
    trainStep(context, {
      model: policy,
      units: best.map(({ rows }) => ({ sequences: rows.map(({ tokens, mask }) => ({ tokens, mask })) })),
      outputs: { logprob: true },
      temperature: context.sampling.temperature,
      normalizer: best.reduce((sum, { sampled }) => sum + sampled.length, 0),
      loss: best.map(({ sampled }) => ({ logprob: new Float32Array(sampled.length).fill(-1) })),
      optimizer: chosen,
      step: iteration,
      totalSteps: chosen.steps,
    });

  return {
    async *run() {
      while (iteration < chosen.steps && !context.signal.aborted) yield await iterate();
    },
    // State that a resumed run needs besides the engine's weights and the position of its tasks.
    state: () => ({ iteration }),
    restore: (state) => void (iteration = Number(state["iteration"])),
  };
}

/** Returns the best scored episode, or undefined where all rewards are equal. */
function bestOf(
  { trajectories }: TrajectoryGroup,
  policy: PolicyId,
  counts: ReturnType<typeof noEpisodeCounts>,
): LearnableEpisode | undefined {
  const ranked = trajectories
    .flatMap((trajectory) => learnableEpisodes(trajectory, { policy, dropCut: true }, counts))
    .sort((one, other) => other.reward - one.reward);
  return (ranked[0]?.reward ?? 0) > (ranked.at(-1)?.reward ?? 0) ? ranked[0] : undefined;
}

export default definePlugin({
  name: "best-of-n-algorithm",
  algorithms: [bestOfN],
  // `mrlm check` trains a model of a few parameters with these options, whose reward must rise.
  examples: {
    algorithms: { "best-of-n@1": { options: { steps: 15, prompts_per_step: 16, group_size: 8, learning_rate: 0.3 } } },
  },
});

import { isPlayedBy } from "@mrlm/kit/learning";
import type {
  AlgorithmContext,
  AlgorithmDefinition,
  AlgorithmRun,
  EngineSequence,
  IterationReport,
  Score,
} from "@mrlm/spec";
import { z } from "zod";

const options = z.strictObject({
  steps: z.int().positive(),
  tasks: z.int().positive().default(2),
  group_size: z.int().positive().default(4),
  learning_rate: z.number().positive().default(0.5),
  with_reference: z.boolean().default(false),
});
type Options = z.output<typeof options>;

/** REINFORCE with the group's mean as baseline: a minimal algorithm that uses all state that a resume must restore. */
export const reinforce: AlgorithmDefinition<Options> = {
  id: "reinforce@1",
  description: "REINFORCE, for tests.",
  options,
  iterations: ({ steps }) => steps,
  plays: ({ tasks, group_size }) => ({ name: "reinforce", groups: tasks, groupSize: group_size }),
  memory: ({ with_reference, group_size }) => ({ reference: with_reference, unitSequences: group_size }),
  create: start,
};

async function start(
  context: AlgorithmContext,
  { steps, learning_rate, with_reference }: Options,
): Promise<AlgorithmRun> {
  const { engine, policy, episodes } = context;
  const reference = with_reference ? await context.reference() : undefined;
  const random = context.random("order");
  let iteration = 0;
  let baseline = 0;

  async function iterate(): Promise<IterationReport> {
    const { groups } = await episodes.take();
    // Uses a random stream, whose position a resume must restore.
    const order = random.shuffle(groups);
    const samples = order.flatMap(({ trajectories }) =>
      trajectories.flatMap(({ id, agents, error }) =>
        Object.entries(agents).flatMap(([agent, part]) =>
          error === undefined && part.total.scored && isPlayedBy(part, policy)
            ? part.segments.map((segment) => ({ segment, reward: (part.total as Score).value, trajectory: id, agent }))
            : [],
        ),
      ),
    );
    if (samples.length === 0) return { iteration: ++iteration, metrics: {}, seconds: {} };
    const mean = samples.reduce((sum, { reward }) => sum + reward, 0) / samples.length;
    baseline = 0.5 * baseline + 0.5 * mean;
    const units = samples.map(({ segment }) => ({
      sequences: [{ tokens: segment.tokens, mask: segment.mask }] satisfies EngineSequence[],
    }));
    const behind =
      reference === undefined
        ? undefined
        : await engine.forward({ model: reference, units, outputs: { logprob: true } });
    await engine.forwardBackward({
      model: policy,
      units,
      outputs: { logprob: true },
      normalizer: samples.length,
      loss: (unit, { logprob = new Float32Array() }) => ({
        logprob: logprob.map(
          (value, i) =>
            -((samples[unit]?.reward ?? 0) - baseline) + 0.01 * (value - (behind?.[unit]?.logprob?.[i] ?? value)),
        ),
      }),
    });
    const { gradNorm } = await engine.optimStep({ model: policy, learningRate: learning_rate });
    iteration++;
    return {
      iteration,
      metrics: { "reward/mean": { sum: mean * samples.length, count: samples.length }, "optim/grad_norm": gradNorm },
      seconds: { training: 0 },
      credits: samples.map(({ trajectory, agent, reward }) => ({ trajectory, agent, advantage: reward - baseline })),
    };
  }

  return {
    async *run() {
      while (iteration < steps) yield await iterate();
    },
    state: () => ({ iteration, baseline }),
    restore(state) {
      iteration = Number(state["iteration"]);
      baseline = Number(state["baseline"]);
    },
  };
}

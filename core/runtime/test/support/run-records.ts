import type { RunRecord } from "../../src/diagnosis/run-record.ts";

/** Metrics of an iteration, from 0, that replace those of a run that learns. */
export type Change = (iteration: number) => Readonly<Record<string, number>>;

/** Returns forty iterations of a run that learns; a change is over its metrics. */
export function run(
  change: Change = () => ({}),
  more: Partial<RunRecord> = {},
  algorithm = "grpo@1",
  seconds: Record<string, number> = {},
): RunRecord {
  const iterations = Array.from({ length: 40 }, (_, i) => ({
    step: i + 1,
    seconds: { sampling: 1, environment: 0.2, training: 1, total: 2.3, engine: 2, ...seconds },
    metrics: {
      "reward/mean": 0.4 + 0.01 * i + 0.01 * (i % 3),
      "reward/correct": 0.3 + 0.01 * i,
      "groups/without_signal": 0.3,
      "clip/fraction": 0.05,
      "entropy/sampled": 0.8 - 0.005 * i,
      "kl/reference": 0.02,
      "offpolicy/kl": 1e-6,
      "offpolicy/ess": 0.9,
      "length/cut": 0.01,
      "length/mean": 20,
      "episodes/played": 256,
      "episodes/failed": 0,
      "episodes/unscored": 0,
      "versions/lag": 0,
      "optim/grad_norm": 0.5 + 0.1 * (i % 4),
      "optim/skipped": 0,
      "value/explained_variance": 0.3,
      ...change(i),
    },
  }));
  return {
    directory: "/runs/a",
    status: "finished",
    stages: [{ name: "grpo", algorithm, iterations }],
    evaluations: [],
    failures: [],
    unscored: [],
    ...more,
  };
}

/** Returns forty steps of a stage without episodes that learns. */
export function supervised(algorithm: "sft" | "dpo", change: Change = () => ({})): RunRecord {
  const metrics: Change =
    algorithm === "sft"
      ? (i) => ({ "loss/nll": 2 - 0.04 * i, entropy: 2 - 0.049 * i, "length/cut_targets": 0, "length/mean": 9 })
      : (i) => ({
          "loss/preference": 0.69 - 0.005 * i,
          "preference/accuracy": 0.5 + 0.01 * i,
          "preference/margin": 0.01 * i,
          "logprob/chosen": -0.5 - 0.002 * i,
          "length/chosen_cut": 0,
          entropy: 1,
        });
  const iterations = Array.from({ length: 40 }, (_, i) => ({
    step: i + 1,
    seconds: { training: 1, total: 1, engine: 0.9 },
    metrics: { ...metrics(i), "optim/grad_norm": 1, "optim/skipped": 0, ...change(i) },
  }));
  return { ...run(), stages: [{ name: algorithm, algorithm: `${algorithm}@1`, iterations }] };
}

/** Returns a run with two learners. */
export function twoPolicies(metrics: Readonly<Record<string, number>>): RunRecord {
  const { stages, ...more } = run();
  const [stage] = stages as [(typeof stages)[number]];
  const iterations = stage.iterations.map((each) => ({
    ...each,
    metrics: {
      ...Object.fromEntries(
        ["a", "b"].flatMap((policy) =>
          Object.entries(each.metrics).map(([name, value]) => [`${policy}/${name}`, value]),
        ),
      ),
      ...metrics,
    },
  }));
  return { ...more, stages: [{ ...stage, learners: { a: "grpo@1", b: "grpo@1" }, iterations }] };
}

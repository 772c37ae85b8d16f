import { beforeAll, describe, expect, test } from "@jest/globals";
import { score } from "@mrlm/kit";
import type { JsonObject, Mean } from "@mrlm/kit/learning";
import {
  type BigramOutcome,
  BigramEngine,
  lettersEnvironment,
  recordingEngine,
  RoundingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { grpo } from "../src/index.ts";

const stage = (options: JsonObject): JsonObject => ({
  algorithm: "grpo",
  steps: 4,
  prompts_per_step: 4,
  group_size: 4,
  learning_rate: 0.1,
  ...options,
});
const training = (options: JsonObject = {}, config: JsonObject = {}) => ({
  algorithms: [grpo],
  stages: [stage(options)],
  config,
});
const mean = (metric: number | Mean | undefined): number =>
  typeof metric === "object" ? metric.sum / metric.count : (metric ?? Number.NaN);
const series = ({ reports }: BigramOutcome, name: string): number[] =>
  reports.map(({ metrics }) => mean(metrics[name]));

/** Several updates from each batch, against a reference, with everything on. */
const EVERYTHING = {
  updates_per_step: 2,
  minibatches: 2,
  kl_coefficient: 0.05,
  entropy_coefficient: 0.01,
  mismatch: "truncate",
  scale: "group_std",
  lr_schedule: "cosine",
  warmup_steps: 2,
};

describe("grpo on a bigram model", () => {
  test.each([
    ["dr. grpo", { aggregation: "constant" }],
    ["leave-one-out", { baseline: "leave_one_out" }],
    ["gspo", { policy_loss: "gspo", scale: "group_std", updates_per_step: 2 }],
    ["cispo", { policy_loss: "cispo", updates_per_step: 2 }],
    ["minirl", { policy_loss: "minirl", old_policy: "sampler", updates_per_step: 2 }],
    ["everything", EVERYTHING],
  ])("the reward rises: %s", async (_name, options) => {
    const rewards = series(
      await trainBigram(training({ steps: 12, group_size: 8, learning_rate: 0.2, ...options })),
      "reward/mean",
    );
    expect(rewards.at(-1)).toBeGreaterThan((rewards[0] as number) + 0.1);
  });

  test("numerics 14: on the first update from fresh episodes the ratio is 1, nothing is clipped and sampler and trainer agree", async () => {
    const { metrics } = (await trainBigram(training({ steps: 1, kl_coefficient: 0.1 })))
      .reports[0] as BigramOutcome["reports"][number];
    expect([mean(metrics["ratio/mean"]), mean(metrics["clip/fraction"]), mean(metrics["kl/reference"])]).toEqual([
      1, 0, 0,
    ]);
    expect(metrics["mismatch/max"]).toBeLessThan(1e-6);
  });

  test("numerics 14, bfloat16: with a sampler in 16 bits the ratio to the trainer's own old policy is still 1, and the mismatch is reported", async () => {
    const { metrics } = (
      await trainBigram({ ...training({ steps: 1, kl_coefficient: 0.1 }), engine: new RoundingEngine() })
    ).reports[0] as BigramOutcome["reports"][number];
    expect([mean(metrics["ratio/mean"]), mean(metrics["clip/fraction"]), mean(metrics["kl/reference"])]).toEqual([
      1, 0, 0,
    ]);
    expect(metrics["mismatch/max"]).toBeGreaterThan(1e-6);
    // Half a unit of a log-probability below 8.
    expect(metrics["mismatch/max"]).toBeLessThan(2 ** -6);
  });

  test("numerics 23: old log-probabilities stay frozen over several updates: the ratio leaves 1 and tokens are clipped", async () => {
    const { metrics } = (await trainBigram(training({ steps: 1, updates_per_step: 3, learning_rate: 0.3 })))
      .reports[0] as BigramOutcome["reports"][number];
    expect(mean(metrics["clip/fraction"])).toBeGreaterThan(0);
    expect(Math.abs(mean(metrics["ratio/mean"]) - 1)).toBeGreaterThan(1e-3);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = {
      random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
    };
    const outcomes = await Promise.all(
      [20, 100, 100_000].map((micro_batch_tokens) =>
        trainBigram(training(EVERYTHING, { model: { ...model, micro_batch_tokens } })),
      ),
    );
    for (const outcome of outcomes.slice(1)) {
      expect(outcome.weights).toEqual(outcomes[0]?.weights);
      expect(outcome.reports.map(({ metrics }) => metrics)).toEqual(outcomes[0]?.reports.map(({ metrics }) => metrics));
    }
  });

  test.each([
    [{ updates_per_step: 1, minibatches: 1 }, 1],
    [{ updates_per_step: 2, minibatches: 1 }, 2],
    [{ updates_per_step: 1, minibatches: 2 }, 2],
    [{ updates_per_step: 3, minibatches: 4 }, 12],
  ])(
    "numerics 1: each optimizer step is divided by its own tokens, however many share a batch of episodes: %j",
    async (options, steps) => {
      const { engine, asked } = recordingEngine();
      await trainBigram({ ...training({ ...options, steps: 1 }), engine });
      const chosen = asked.passes.map(
        ({ units }) =>
          units.flatMap(({ sequences }) => sequences.flatMap(({ mask }) => Array.from(mask))).filter((bit) => bit === 1)
            .length,
      );
      expect(asked.passes.map(({ normalizer }) => normalizer)).toEqual(chosen);
      expect([asked.passes.length, asked.steps.length]).toEqual([steps, steps]);
    },
  );

  test("numerics 57: warm-up and schedule count the optimizer steps within an iteration too", async () => {
    const { engine, asked } = recordingEngine();
    await trainBigram({
      ...training({
        steps: 2,
        updates_per_step: 2,
        minibatches: 2,
        learning_rate: 0.08,
        warmup_steps: 4,
        lr_schedule: "linear",
      }),
      engine,
    });
    expect(asked.steps.map(({ learningRate }) => learningRate)).toEqual(
      [0.02, 0.04, 0.06, 0.08, 0.064, 0.048, 0.032, 0.016].map((rate) => expect.closeTo(rate, 9)),
    );
  });

  test("numerics 11: nothing normalises rewards on their way: with scale none the gradient is proportional to them, with group_std it does not see their size", async () => {
    const norms = async (scale: string, factor: number): Promise<number[]> => {
      const environments = [lettersEnvironment({ reward: (text) => score(factor * (text.split("a").length - 1)) })];
      return series(await trainBigram({ ...training({ steps: 1, scale }), environments }), "optim/grad_norm");
    };
    const [plain] = await norms("none", 1);
    expect(await norms("none", 1000)).toEqual([expect.closeTo(1000 * (plain as number), 1)]);
    const [scaled] = await norms("group_std", 1000);
    expect(await norms("group_std", 8000)).toEqual([expect.closeTo(scaled as number, 4)]);
  });

  test("a gradient that is known beforehand is that of the loss: it is what a function answers", async () => {
    const [known, asked] = await Promise.all([
      trainBigram(training()),
      trainBigram(training({ mismatch: "truncate", mismatch_cap: 1e6 })),
    ]);
    // The weights of a mismatch below 1e-6 differ from 1 by as much.
    expect(series(known, "optim/grad_norm")).toEqual(
      series(asked, "optim/grad_norm").map((norm) => expect.closeTo(norm, 4)),
    );
  });

  test("numerics 55: groups without signal are replaced, up to the cap; what is still missing then is renormalised", async () => {
    const rare = lettersEnvironment({ reward: (_, { index }) => score(index % 4 === 0 ? Math.random() : 1) });
    const dynamic = await trainBigram({ ...training({ steps: 2, dynamic_sampling: 2 }), environments: [rare] });
    for (const [i, { metrics }] of dynamic.reports.entries()) {
      expect(metrics["groups/refills"]).toBeGreaterThan(0);
      expect(metrics["groups/refills"]).toBeLessThanOrEqual(2);
      expect(dynamic.played[i]?.length).toBeGreaterThan(4);
    }
    const never = await trainBigram({
      ...training({ steps: 1, dynamic_sampling: 2 }),
      environments: [lettersEnvironment({ reward: () => score(1) })],
    });
    expect(never.reports[0]).toMatchObject({
      metrics: { "groups/refills": 2, "groups/without_signal": { sum: 12, count: 12 } },
      notices: [expect.stringContaining("No episode")],
    });
  });

  test("numerics 9: without dynamic sampling groups without signal are counted and move nothing", async () => {
    const { reports } = await trainBigram({
      ...training({ steps: 1 }),
      environments: [lettersEnvironment({ reward: () => score(1) })],
    });
    expect(reports[0]?.metrics).toMatchObject({
      "groups/without_signal": { sum: 4, count: 4 },
      "optim/grad_norm": { sum: 0, count: 1 },
    });
  });

  test("numerics 54: an episode that fails is counted and not trained on; the others of its group are", async () => {
    const failing = lettersEnvironment({
      reward: (text, { index }) => {
        if (index % 2 === 0 && /[ab]/.test(text)) throw new Error("the scorer exited");
        return score(text.length);
      },
    });
    const { reports } = await trainBigram({ ...training({ steps: 2, prompts_per_step: 8 }), environments: [failing] });
    const failed = reports.map(({ metrics }) => metrics["episodes/failed"] as number);
    expect(failed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    expect(reports[0]?.metrics["reward/mean"]).toMatchObject({ count: 32 - (failed[0] as number) });
  });

  test("several turns: lengths count the tokens of the policy", async () => {
    const { reports } = await trainBigram({
      ...training({ steps: 2 }, { sampling: { max_tokens: 2, ignore_stop: true } }),
      environments: [lettersEnvironment({ turns: 3 })],
    });
    expect(mean(reports[0]?.metrics["length/mean"])).toBe(6);
    expect(mean(reports[0]?.metrics["turns/mean"])).toBe(3);
  });
});

describe("grpo, the same run again", () => {
  let whole: BigramOutcome;
  beforeAll(async () => {
    whole = await trainBigram(training(EVERYTHING));
  });

  test("numerics 56: the same seed is the same run, another seed another", async () => {
    const [again, other] = [
      await trainBigram(training(EVERYTHING)),
      await trainBigram(training(EVERYTHING, { seed: 8 })),
    ];
    expect(again.weights).toEqual(whole.weights);
    expect(again.reports.map(({ metrics }) => metrics)).toEqual(whole.reports.map(({ metrics }) => metrics));
    expect(other.weights).not.toEqual(whole.weights);
  });

  test.each([5, 10, 16])(
    "numerics 52: killed at optimizer step %i and resumed, it ends with the same weights",
    async (dieAt) => {
      const resumed = await trainBigramInterrupted(training(EVERYTHING), dieAt);
      expect(resumed.weights).toEqual(whole.weights);
      const iterations = resumed.reports.map(({ iteration }) => iteration);
      expect(resumed.reports.map(({ metrics }) => metrics)).toEqual(
        iterations.map((iteration) => whole.reports[iteration - 1]?.metrics),
      );
    },
  );
});

test("numerics 58: a step whose gradient norm is not finite is skipped and reported", async () => {
  const engine = new BigramEngine();
  const poisoned = new Proxy(engine, {
    get: (target, property: keyof BigramEngine) =>
      property !== "forwardBackward"
        ? target[property].bind(target)
        : (options: Parameters<BigramEngine["forwardBackward"]>[0]) =>
            target.forwardBackward({
              ...options,
              loss: options.units.map(({ sequences }) => ({
                logprob: new Float32Array(
                  sequences.flatMap(({ mask }) => Array.from(mask).filter((chosen) => chosen === 1)).length,
                ).fill(Number.NaN),
              })),
            }),
  });
  const { reports } = await trainBigram({ ...training({ steps: 1 }), engine: poisoned });
  expect(reports[0]).toMatchObject({
    metrics: { "optim/skipped": 1, "optim/grad_norm": { sum: 0, count: 0 } },
    notices: [expect.stringMatching(/skipped.*NaN/)],
  });
});

describe("what cannot train is refused before work begins", () => {
  test.each<[string, JsonObject, JsonObject, RegExp]>([
    ["a group of one", { group_size: 1 }, {}, /every advantage would be 0/],
    [
      "a mismatch correction of log-probabilities that are not used",
      { mismatch: "mask", old_policy: "sampler" },
      {},
      /old_policy/,
    ],
    ["greedy sampling", {}, { sampling: { temperature: 0 } }, /temperature is 0/],
    ["numerics 16: a cut distribution", {}, { sampling: { top_p: 0.9 } }, /cuts the distribution/],
    [
      "M7: stop tokens that cannot be drawn",
      {},
      { sampling: { max_tokens: 4, min_tokens: 2 } },
      /min_tokens \(2\) forbids stop tokens/,
    ],
    ["a buffer as long as the answer", { overlong_buffer: 8 }, { sampling: { max_tokens: 8 } }, /overlong_buffer/],
    ["an option that does not exist", { lerning_rate: 1 }, {}, /learning_rate/],
    ["minirl's bounds elsewhere", { minirl_cap: 2 }, {}, /minirl_cap.*no effect with policy_loss: clip/s],
    ["a dual clip of what is not clipped", { policy_loss: "cispo", dual_clip: 3 }, {}, /dual_clip.*no effect/s],
    ["a lower bound of cispo", { policy_loss: "cispo", clip_low: 0.1 }, {}, /clip_low.*cispo, which reads clip_high/s],
    ["an upper bound of minirl by another name", { policy_loss: "minirl", clip_high: 0.4 }, {}, /minirl_epsilon_high/],
    ["a cap without weights", { mismatch_cap: 3 }, {}, /mismatch: truncate, mask or drop/],
    ["an estimator without a coefficient", { kl_estimator: "k1" }, {}, /kl_coefficient is 0/],
    ["a penalty without a buffer", { overlong_penalty: 2 }, {}, /overlong_buffer/],
    ["more minibatches than groups", { minibatches: 5 }, {}, /prompts_per_step \(4\)/],
    ["a clip below a ratio of 0", { clip_low: 1.5 }, {}, /clip_low/],
    ["a dual clip below 1", { dual_clip: 0.9 }, {}, /dual_clip/],
    ["a mismatch cap below 1", { mismatch: "mask", mismatch_cap: 0.5 }, {}, /mismatch_cap/],
    ["a negative coefficient", { kl_coefficient: -0.1 }, {}, /kl_coefficient/],
    ["a surrogate that does not exist", { policy_loss: "gpso" }, {}, /gspo/],
  ])("%s", async (_name, options, config, message) => {
    await expect(trainBigram(training(options, config))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message),
    });
  });
});

test.each(["sync", "pipelined", "async"])(
  "R20: a run in mode %s in which each step of all tasks throws ends after few episodes, with the cause",
  async (mode) => {
    let resets = 0;
    const letters = lettersEnvironment();
    const broken: typeof letters = {
      ...letters,
      create: async (context, options) => {
        const instance = await letters.create(context, options);
        return {
          ...instance,
          reset: (given) => (resets++, instance.reset(given)),
          step: () => Promise.reject(new Error("no such service")),
        };
      },
    };
    const run = training(
      { steps: 1_000, dynamic_sampling: 2, mismatch: "truncate" },
      { ...(mode !== "sync" && { play: { mode, lag: 1 } }) },
    );
    await expect(trainBigram({ ...run, environments: [broken] })).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(/last 3 iterations failed.*no such service/),
    });
    // Batches of 16 episodes with two refills each: three that were taken, and two that were played ahead.
    expect(resets).toBeLessThanOrEqual(16 * (1 + 2) * (3 + 2));
  },
);

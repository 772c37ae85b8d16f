import { beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject, Mean } from "@mrlm/kit/learning";
import {
  type BigramOutcome,
  lettersEnvironment,
  recordingEngine,
  RoundingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { ppo } from "../src/index.ts";

const training = (options: JsonObject = {}, config: JsonObject = {}) => ({
  algorithms: [ppo],
  stages: [
    {
      algorithm: "ppo",
      steps: 4,
      prompts_per_step: 12,
      learning_rate: 0.05,
      ...(options["critic"] === "shared" ? {} : { critic_learning_rate: 0.05 }),
      ...options,
    },
  ],
  config,
});
const series = ({ reports }: BigramOutcome, name: string): number[] =>
  reports.map(({ metrics }) => {
    const metric = metrics[name] as number | Mean;
    return typeof metric === "number" ? metric : metric.sum / metric.count;
  });
/** Parts of a run that have state. */
const EVERYTHING = {
  updates_per_step: 2,
  minibatches: 2,
  group_size: 2,
  kl_coefficient: 0.05,
  kl_target: 0.5,
  kl_horizon: 100,
  entropy_coefficient: 0.01,
  value_clip: 0.2,
  lr_schedule: "cosine",
  stop_kl: 0.5,
};

describe("ppo on a bigram model", () => {
  test.each<[string, JsonObject]>([
    ["a value head on the policy's backbone", { critic: "shared", minibatches: 2, kl_coefficient: 0.01 }],
    ["with everything, the divergence in the loss", { ...EVERYTHING, kl_placement: "loss", critic_warmup_steps: 1 }],
  ])("the reward rises and the critic explains some of it: %s", async (_name, options) => {
    const outcome = await trainBigram(training({ steps: 14, prompts_per_step: 24, learning_rate: 0.1, ...options }));
    const rewards = series(outcome, "reward/mean");
    expect(rewards.at(-1)).toBeGreaterThan((rewards[0] as number) + 0.1);
    expect(Math.max(...series(outcome, "value/explained_variance"))).toBeGreaterThan(0.05);
  });

  test("numerics 44: the critic returns 0 everywhere at first, and the first value loss is half the mean squared return", async () => {
    const { metrics } = (await trainBigram(training({ steps: 1, updates_per_step: 1, gae_lambda: 1 })))
      .reports[0] as BigramOutcome["reports"][number];
    expect(metrics["value/mean"]).toMatchObject({ sum: 0 });
    expect(metrics["value/explained_variance"]).toBe(0);
  });

  test("numerics 14, 23: the ratio is exactly 1 in the first epoch; in later ones old log-probabilities stay frozen and tokens are clipped", async () => {
    const first = (await trainBigram(training({ steps: 1, updates_per_step: 1 }))).reports[0]?.metrics as Record<
      string,
      Mean
    >;
    expect([first["ratio/mean"], first["clip/fraction"], first["kl/old"]]).toMatchObject([
      { sum: first["ratio/mean"]?.count },
      { sum: 0 },
      { sum: 0 },
    ]);
    const later = (await trainBigram(training({ steps: 1, updates_per_step: 3, learning_rate: 0.3 }))).reports[0]
      ?.metrics as Record<string, Mean>;
    expect(later["clip/fraction"]?.sum).toBeGreaterThan(0);
    expect(later["ratio/mean"]?.sum).not.toBe(later["ratio/mean"]?.count);
  });

  test("numerics 14, bfloat16: with a sampler in 16 bits the ratio to the trainer's own old policy is still exactly 1", async () => {
    const { metrics } = (
      await trainBigram({ ...training({ steps: 1, updates_per_step: 1 }), engine: new RoundingEngine() })
    ).reports[0] as BigramOutcome["reports"][number];
    expect([metrics["ratio/mean"], metrics["clip/fraction"], metrics["kl/old"]]).toMatchObject([
      { sum: (metrics["ratio/mean"] as Mean).count },
      { sum: 0 },
      { sum: 0 },
    ]);
    expect(metrics["mismatch/max"]).toBeGreaterThan(1e-6);
  });

  test("the policy makes no more updates from a batch after it has moved too far; the critic does", async () => {
    const [free, stopped] = await Promise.all(
      [100, 0.01].map((stop_kl) =>
        trainBigram(training({ steps: 1, updates_per_step: 5, learning_rate: 0.3, stop_kl })),
      ),
    );
    expect(free?.reports[0]?.metrics).toMatchObject({ "optim/stopped": 0, "optim/grad_norm": { count: 5 } });
    expect(stopped?.reports[0]?.metrics).toMatchObject({
      "optim/stopped": 3,
      "optim/grad_norm": { count: 2 },
      "optim/critic_grad_norm": { count: 5 },
    });
  });

  test("numerics 45: while the critic warms up the policy stays as it is", async () => {
    const outcome = await trainBigram(training({ steps: 3, critic_warmup_steps: 2, kl_coefficient: 0.1 }));
    expect(outcome.reports.map(({ metrics }) => (metrics["optim/grad_norm"] as Mean).count)).toEqual([0, 0, 2]);
    expect(series(outcome, "kl/reference")).toEqual([0, 0, 0]);
  });

  test("M11: the policy's warm-up and schedule begin after the critic's own iterations, also when the run is resumed there", async () => {
    const options = training({
      steps: 4,
      critic_warmup_steps: 2,
      warmup_steps: 2,
      lr_schedule: "linear",
      learning_rate: 0.04,
      critic_learning_rate: 0.8,
    });
    const { engine, asked } = recordingEngine();
    const whole = await trainBigram({ ...options, engine });
    const rates = (of: string): number[] =>
      asked.steps.filter(({ model }) => model === of).map(({ learningRate }) => learningRate);
    const expected = {
      policy: [0.02, 0.04, 0.04 * (2 / 3), 0.04 / 3],
      critic: [0.4, ...[7, 6, 5, 4, 3, 2, 1].map((left) => (0.8 * left) / 7)],
    };
    for (const [model, wanted] of Object.entries(expected))
      expect(rates(model)).toEqual(wanted.map((rate) => expect.closeTo(rate, 12)));
    // The policy's first step is the seventh.
    expect((await trainBigramInterrupted(options, 8)).weights).toEqual(whole.weights);
  });

  test("several turns, of which the last is cut by the limit of turns", async () => {
    const environments = [lettersEnvironment({ turns: 3 })];
    const config = { environments: [{ id: "letters@1", max_turns: 2 }] };
    const { reports } = await trainBigram({ ...training({ steps: 2 }, config), environments });
    expect(series({ reports } as BigramOutcome, "turns/mean")).toEqual([2, 2]);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = {
      random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
    };
    const [one, ...others] = await Promise.all(
      [20, 100_000].map((micro_batch_tokens) =>
        trainBigram(training(EVERYTHING, { model: { ...model, micro_batch_tokens } })),
      ),
    );
    for (const other of others) {
      expect(other.weights).toEqual(one?.weights);
      expect(other.reports.map(({ metrics }) => metrics)).toEqual(one?.reports.map(({ metrics }) => metrics));
    }
  });

  test("numerics 1, 57: each optimizer step is divided by its own tokens, and warm-up counts the steps within an iteration too", async () => {
    const { engine, asked } = recordingEngine();
    await trainBigram({
      ...training({
        steps: 1,
        updates_per_step: 2,
        minibatches: 2,
        learning_rate: 0.08,
        critic_learning_rate: 0.8,
        warmup_steps: 4,
      }),
      engine,
    });
    const chosen = asked.passes.map(
      ({ units }) =>
        units.flatMap(({ sequences }) => sequences.flatMap(({ mask }) => Array.from(mask))).filter((bit) => bit === 1)
          .length,
    );
    expect(asked.passes.map(({ normalizer }) => normalizer)).toEqual(chosen);
    const rates = (model: string): number[] =>
      asked.steps.filter((step) => step.model === model).map(({ learningRate }) => learningRate);
    expect(rates("policy")).toEqual([0.02, 0.04, 0.06, 0.08].map((rate) => expect.closeTo(rate)));
    expect(rates("critic")).toEqual([0.2, 0.4, 0.6, 0.8].map((rate) => expect.closeTo(rate)));
  });

  test("two stages of ppo each have a critic of their own, and none is left behind", async () => {
    const [stage] = training({ steps: 1 }).stages;
    const { engine, reports } = await trainBigram({
      ...training(),
      stages: [stage as JsonObject, stage as JsonObject],
    });
    expect((await engine.describe()).models.map(({ model }) => model)).toEqual(["policy"]);
    expect(reports.map(({ metrics }) => (metrics["value/mean"] as Mean).sum)).toEqual([0, 0]);
  });

  test.each<[JsonObject, JsonObject, RegExp]>([
    [{ kl_target: 1 }, {}, /kl_target/],
    [{ critic: "shared", critic_warmup_steps: 2 }, {}, /critic_warmup_steps.*is an option of a separate critic/s],
    [{ kl_clip: 1 }, {}, /kl_clip.*kl_coefficient is 0/s],
    [{ kl_coefficient: 0.1, kl_estimator: "k1" }, {}, /kl_estimator.*in the reward, where the divergence is k1/s],
    [{ kl_coefficient: 0.1, kl_placement: "loss", kl_clip: 1 }, {}, /kl_clip.*kl_placement: loss/s],
    [{ kl_coefficient: 0.1, kl_horizon: 10 }, {}, /kl_horizon.*without kl_target/s],
    [{ minibatches: 13 }, {}, /prompts_per_step \(12\)/],
    [{ gamma: 1.1 }, {}, /gamma/],
    [{ gae_lambda: -0.1 }, {}, /gae_lambda/],
    [{ value_clip: 0 }, {}, /value_clip/],
    [{ stop_kl: 0 }, {}, /stop_kl/],
    [{}, { sampling: { temperature: 0 } }, /temperature is 0/],
    [{}, { sampling: { top_k: 3 } }, /cuts the distribution/],
  ])("what cannot train is refused: %j %j", async (options, config, message) => {
    await expect(trainBigram(training(options, config))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message),
    });
  });
});

describe("ppo, the same run again", () => {
  let whole: BigramOutcome;
  beforeAll(async () => {
    whole = await trainBigram(training(EVERYTHING));
  });

  test("numerics 56: the same seed is the same run", async () => {
    expect((await trainBigram(training(EVERYTHING))).weights).toEqual(whole.weights);
  });

  test.each([3, 12, 25])(
    "numerics 52: killed at optimizer step %i and resumed, it ends with the same weights, critic and coefficient",
    async (dieAt) => {
      const resumed = await trainBigramInterrupted(training(EVERYTHING), dieAt);
      expect(resumed.weights).toEqual(whole.weights);
      expect(resumed.reports.map(({ metrics }) => metrics)).toEqual(
        resumed.reports.map(({ iteration }) => whole.reports[iteration - 1]?.metrics),
      );
    },
  );
});

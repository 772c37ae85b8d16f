import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { score } from "@mrlm/kit";
import type { JsonObject, Mean } from "@mrlm/kit/learning";
import {
  BigramEngine,
  type BigramOutcome,
  lettersEnvironment,
  recordingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { dpo } from "../src/index.ts";
import { dpoOptions } from "../src/options.ts";

const data = join(mkdtempSync(join(tmpdir(), "mrlm-dpo-")), "pairs.jsonl");
writeFileSync(
  data,
  Array.from({ length: 24 }, (_, i) =>
    JSON.stringify({ prompt: String(i % 10), chosen: "ab".repeat(1 + (i % 3)), rejected: "dc".repeat(1 + (i % 2)) }),
  ).join("\n"),
);

const singles = join(mkdtempSync(join(tmpdir(), "mrlm-dpo-")), "singles.jsonl");
writeFileSync(
  singles,
  Array.from({ length: 24 }, (_, i) =>
    JSON.stringify({
      prompt: String(i % 10),
      completion: (i % 3 === 0 ? "ab" : "dc").repeat(1 + (i % 4)),
      label: i % 3 === 0,
    }),
  ).join("\n"),
);

const training = (options: JsonObject = {}, config: JsonObject = {}) => ({
  algorithms: [dpo],
  stages: [{ algorithm: "dpo", steps: 10, batch_size: 8, learning_rate: 0.1, ...options }],
  config,
});
const series = ({ reports }: BigramOutcome, name: string): number[] =>
  reports.map(({ metrics }) => (metrics[name] as Mean).sum / (metrics[name] as Mean).count);
const meanOf = (metric: number | Mean | undefined): number =>
  typeof metric === "object" ? metric.sum / metric.count : (metric ?? Number.NaN);
const COLLECTED = { prompts: 12, group_size: 4, pairs_per_group: 2, collect_every: 4, beta: 0.5 };

describe("dpo on a bigram model", () => {
  test.each(["sigmoid", "hinge", "ipo", "simpo", "orpo", "kto"])(
    "%s: the loss falls and the chosen answers gain on the rejected ones",
    async (loss) => {
      const outcome = await trainBigram(training({ data, loss, steps: 8 }));
      const [losses, margins] = [series(outcome, "loss/preference"), series(outcome, "preference/margin")];
      expect(losses.at(-1)).toBeLessThan(losses[0] as number);
      expect(margins.at(-1)).toBeGreaterThan(margins[0] as number);
    },
  );

  test("numerics 40: the loss is ln 2 at step 0 and below 0.68 at step 10; a precomputed reference gives what a model gives", async () => {
    const [online, precomputed] = await Promise.all(
      ["model", "precomputed"].map((reference) => trainBigram(training({ data, reference, steps: 11 }))),
    );
    const losses = series(online as BigramOutcome, "loss/preference");
    expect(Math.abs((losses[0] as number) - Math.LN2)).toBeLessThan(1e-6);
    expect(losses[10]).toBeLessThan(0.68);
    expect(precomputed?.weights).toEqual(online?.weights);
    expect(precomputed?.reports).toEqual(online?.reports);
  });

  test("without a reference no second model is made, and the first loss is that of the log-probabilities themselves", async () => {
    const outcome = await trainBigram(training({ data, reference_free: true, steps: 2, batch_size: 24 }));
    const { metrics } = outcome.reports[0] as BigramOutcome["reports"][number];
    const sums = (name: string): number => (metrics[name] as Mean).sum;
    expect(sums("preference/chosen")).toBeCloseTo(0.1 * sums("logprob/chosen"), 6);
    expect(sums("loss/preference")).not.toBeCloseTo(24 * Math.LN2, 3);
  });

  test("orpo makes no second model, and its first loss is that of the log-probabilities themselves", async () => {
    const engine = new BigramEngine();
    const outcome = await trainBigram({ ...training({ data, loss: "orpo", steps: 1, batch_size: 24 }), engine });
    expect((await engine.describe()).models.map(({ model }) => model)).toEqual(["policy"]);
    expect(dpo.memory?.(dpoOptions.parse({ steps: 1, loss: "orpo" }))).toMatchObject({ reference: false });
    const { metrics } = outcome.reports[0] as BigramOutcome["reports"][number];
    // The untrained model gives every token about the same probability: the odds are about equal.
    const uniform = -meanOf(metrics["logprob/chosen"]);
    expect(Math.abs(meanOf(metrics["loss/preference"]) - uniform - 0.1 * Math.LN2)).toBeLessThan(0.05);
  });

  test("kto of single answers: desirable ones gain on undesirable ones, whatever the share of each", async () => {
    const outcome = await trainBigram(training({ data: singles, loss: "kto", steps: 12, batch_size: 6 }));
    const margins = outcome.reports.flatMap(({ metrics }) => metrics["preference/margin"] ?? []) as number[];
    expect(margins[0]).toBe(0);
    expect(margins.at(-1)).toBeGreaterThan(0.05);
    expect(outcome.reports.every(({ metrics }) => metrics["preference/accuracy"] === undefined)).toBe(true);
    const whole = await trainBigram(training({ data: singles, loss: "kto", steps: 1, batch_size: 24 }));
    expect(whole.reports[0]?.metrics).toMatchObject({
      "preference/desirable": { sum: 8, count: 24 },
      "loss/preference": { count: 24 },
      "kto/mismatched_cut": { sum: 0, count: 24 },
    });
    expect(series(whole, "loss/preference")[0]).toBeCloseTo(0.5, 12);
  });

  test("kto of single answers: a batch may have one kind by chance", async () => {
    const { reports } = await trainBigram(training({ data: singles, loss: "kto", batch_size: 2, steps: 12 }));
    const shares = reports.map(({ metrics }) => meanOf(metrics["preference/desirable"]));
    expect(shares).toContain(0);
    for (const { metrics } of reports) {
      expect("preference/chosen" in metrics).toBe(meanOf(metrics["preference/desirable"]) > 0);
      expect(Number.isFinite(meanOf(metrics["loss/preference"]))).toBe(true);
    }
  });

  test("kto of single episodes, desirable from a reward on: the reward rises, and each scored episode is learnt", async () => {
    const outcome = await trainBigram(
      training({
        ...COLLECTED,
        pairs_per_group: 1,
        loss: "kto",
        desirable_reward: 0.1,
        steps: 16,
        learning_rate: 0.3,
        batch_size: 32,
      }),
    );
    expect(outcome.reports[0]?.metrics["data/pairs"]).toBe(48);
    expect(outcome.reports[0]?.credits?.length).toBeGreaterThan(0);
    const rewards = series(
      { ...outcome, reports: outcome.reports.filter(({ metrics }) => "reward/mean" in metrics) },
      "reward/mean",
    );
    expect(rewards.at(-1)).toBeGreaterThan((rewards[0] as number) + 0.05);
  });

  test("kto of single episodes that are all on one side of the reward ends like a stage without pairs", async () => {
    const options = { ...COLLECTED, pairs_per_group: 1, collect_every: 0, loss: "kto", desirable_reward: 2 };
    await expect(trainBigram(training(options))).rejects.toMatchObject({
      code: "DATA_INVALID",
      hint: expect.stringMatching(/all on one side of desirable_reward: 2/),
    });
  });

  test("numerics 41: the reference is frozen: it gives the first step's log-probabilities to the last", async () => {
    const outcome = await trainBigram(training({ data, batch_size: 24, steps: 6 }));
    // With all pairs in each batch, β (logπ - logref) of the chosen answer distinguishes the reference from the policy.
    const reference = outcome.reports.map(
      ({ metrics }) => (metrics["logprob/chosen"] as Mean).sum - (metrics["preference/chosen"] as Mean).sum / 0.1,
    );
    for (const each of reference) expect(each).toBeCloseTo(reference[0] as number, 2);
  });

  test("pairs of episodes, the best against the worst, made anew every few steps: the reward rises", async () => {
    const outcome = await trainBigram(training({ ...COLLECTED, steps: 16, learning_rate: 0.3 }));
    const rewards = outcome.reports
      .filter(({ metrics }) => "reward/mean" in metrics)
      .map(({ metrics }) => (metrics["reward/mean"] as Mean).sum / (metrics["reward/mean"] as Mean).count);
    expect(rewards).toHaveLength(4);
    expect(rewards.at(-1)).toBeGreaterThan((rewards[0] as number) + 0.05);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = {
      random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
    };
    const [one, ...others] = await Promise.all(
      [10, 70, 100_000].map((micro_batch_tokens) =>
        trainBigram(training({ data, loss: "kto" }, { model: { ...model, micro_batch_tokens } })),
      ),
    );
    for (const other of others) {
      expect(other.weights).toEqual(one?.weights);
      expect(other.reports).toEqual(one?.reports);
    }
  });

  test.each<[string, JsonObject]>([
    ["of a file, reference precomputed", { data, reference: "precomputed" }],
    ["of a file, kto of single answers", { data: singles, loss: "kto" }],
    ["of episodes", COLLECTED],
    [
      "of episodes, kto of each alone, reference precomputed",
      { ...COLLECTED, pairs_per_group: 1, loss: "kto", desirable_reward: 0.1, reference: "precomputed" },
    ],
  ])("numerics 52: killed and resumed, it ends with the same weights: pairs %s", async (_name, options) => {
    const whole = await trainBigram(training(options));
    for (const dieAt of [4, 7]) {
      const resumed = await trainBigramInterrupted(training(options), dieAt);
      expect(resumed.weights).toEqual(whole.weights);
      expect(resumed.reports.map(({ metrics }) => metrics)).toEqual(
        whole.reports.slice(dieAt - 1).map(({ metrics }) => metrics),
      );
    }
  });

  describe("M3: rounds of episodes without a pair", () => {
    const options = { ...COLLECTED, steps: 12 };
    const taskIndex = (task: string): number => Number(task.split("/")[1]);
    /** Tasks of each round. Rounds have the same tasks whatever is learnt: 3 x 12 of 64. */
    const rounds = trainBigram(training(options)).then(({ played }) =>
      played.filter(({ length }) => length > 0).map((groups) => new Set(groups.map(({ task }) => taskIndex(task)))),
    );
    /** Runs with equal rewards for all episodes of the tasks of this round. */
    const without = async (round: number) => {
      const dull = (await rounds)[round] as Set<number>;
      const reward = (text: string, { index }: { readonly index: number }) =>
        score(dull.has(index) ? 1 : [...text].filter((letter) => letter === "a").length / Math.max(1, text.length));
      return { ...training(options), environments: [lettersEnvironment({ reward })] };
    };
    const pairsOf = ({ reports }: BigramOutcome): unknown[] => reports.map(({ metrics }) => metrics["data/pairs"]);

    test("a later one keeps the pairs of the one before, with a notice; the run can be resumed", async () => {
      const whole = await trainBigram(await without(1));
      const pairs = pairsOf(whole);
      expect(pairs.slice(0, 8)).toEqual(Array(8).fill(pairs[0]));
      expect(whole.reports[4]).toMatchObject({
        metrics: { "groups/paired": { sum: 0, count: 12 } },
        notices: [expect.stringMatching(/^Round 2 of episodes made no pair .*: the \d+ pairs of round 1 stay$/)],
      });
      for (const dieAt of [5, 7, 9])
        expect((await trainBigramInterrupted(await without(1), dieAt)).weights).toEqual(whole.weights);
    });

    test("the first one leaves the weights as they are, with a notice, until the next round, which plays other tasks", async () => {
      const whole = await trainBigram(await without(0));
      expect(whole.reports[0]).toMatchObject({
        metrics: { "data/pairs": 0 },
        notices: [expect.stringMatching(/^Round 1 of episodes made no pair .* until step 5, which plays other tasks$/)],
      });
      expect(whole.reports.slice(0, 4).every(({ metrics }) => metrics["loss/preference"] === undefined)).toBe(true);
      expect(new Set(whole.played[4]?.map(({ task }) => taskIndex(task)))).toEqual((await rounds)[1]);
      expect(whole.reports.slice(4).every(({ metrics }) => metrics["loss/preference"] !== undefined)).toBe(true);
      expect((await trainBigramInterrupted(await without(0), 1)).weights).toEqual(whole.weights);
    });

    test("a stage with one round and no pair ends at once; one with several ends only when it plays no more", async () => {
      const dull = [lettersEnvironment({ reward: () => score(1) })];
      const error = { code: "DATA_INVALID", hint: expect.stringMatching(/with different rewards/) };
      for (const [collect_every, roundsPlayed] of [
        [0, 1],
        [4, 3],
      ] as const) {
        const { engine, asked } = recordingEngine();
        let streams = 0;
        const counting = new Proxy(engine, {
          get: (target, name: keyof typeof engine) =>
            name === "sampler" ? (model: string) => (streams++, target.sampler(model)) : target[name],
        });
        await expect(
          trainBigram({ ...training({ ...COLLECTED, collect_every }), environments: dull, engine: counting }),
        ).rejects.toMatchObject(error);
        expect([asked.steps.length, streams]).toEqual([0, roundsPlayed]);
      }
    });
  });

  test("M4: kto's mismatched prompt and answer stay within the model's positions", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-dpo-")), "uneven.jsonl");
    // With the template's marks 16 tokens each: a long prompt, then a long answer.
    const rows = [
      { prompt: "123456789012", chosen: "a", rejected: "d" },
      { prompt: "1", chosen: "abababababab", rejected: "dcdcdcdcdcdc" },
    ];
    writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
    const model = {
      random: {
        config: { initializer_range: 0.5, max_position_embeddings: 17 },
        tokenizer: { characters: { alphabet: "abcd0123456789" } },
      },
    };
    const { reports } = await trainBigram(training({ data: path, loss: "kto", batch_size: 2, steps: 2 }, { model }));
    expect(reports[0]?.metrics["kto/mismatched_cut"]).toEqual({ sum: 2, count: 4 });
  });

  test.each([
    ["is missing", undefined, /run\.yaml:\d+:\d+: .*cannot be read/],
    ["is not JSON", '{"prompt": "1", "chosen": ', /jsonl:1: the line is not JSON/],
    ["is empty", "", /has no rows/],
  ])("a file that %s is found before any model is made", async (_name, content, message) => {
    const path = join(mkdtempSync(join(tmpdir(), "mrlm-dpo-")), "pairs.jsonl");
    if (content !== undefined) writeFileSync(path, content);
    const engine = new BigramEngine();
    await expect(trainBigram({ ...training({ data: path }), engine })).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(message),
    });
    expect((await engine.describe()).models).toEqual([]);
  });

  test.each<[JsonObject, RegExp]>([
    [{ data, loss: "sigmod" }, /loss: must be one of .*\(did you mean sigmoid\?\), but it is "sigmod"/],
    [{ data, beta: "high" }, /beta: must be a number, but it is "high"/],
    [{ data, label_smoothing: 0.1, loss: "ipo" }, /label_smoothing/],
    [{ data, loss: "kto", batch_size: 1 }, /batch_size/],
    [{ data, loss: "kto", reference_free: true }, /reference_free/],
    [{ data, simpo_margin: 1 }, /simpo_margin.*no effect with loss: sigmoid/s],
    [{ data, kto_desirable_weight: 2 }, /kto_desirable_weight.*no effect/s],
    [{ data, loss: "kto", kto_desirable_weight: 0, kto_undesirable_weight: 0 }, /both 0/],
    [{ data, loss: "orpo", nll_coefficient: 1 }, /nll_coefficient.*likelihood of the chosen answer with weight 1/s],
    [{ data, loss: "orpo", reference: "precomputed" }, /orpo, which has no reference/],
    [{ data, desirable_reward: 1 }, /desirable_reward.*sigmoid, which compares two answers/s],
    [{ loss: "kto", desirable_reward: 1, pairs_per_group: 2 }, /pairs_per_group.*beside desirable_reward/s],
    [{ data, loss: "simpo", reference: "precomputed" }, /simpo, which has no reference/],
    [{ data, reference_free: true, reference: "precomputed" }, /beside reference_free/],
    [{ data, collect_every: 3 }, /collect_every.*no effect on pairs of a file/s],
    [{ data, beta: 0 }, /beta/],
    [{ data, label_smoothing: 0.5 }, /label_smoothing/],
    [{ data, lr_floor: 1e-3 }, /lr_floor/],
  ])("what has no meaning is refused: %j", async (options, message) => {
    await expect(trainBigram(training(options))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message),
    });
  });
});

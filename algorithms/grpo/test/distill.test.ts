import { describe, expect, test } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { score } from "@mrlm/kit";
import type { Credit, JsonObject, Mean } from "@mrlm/kit/learning";
import { BigramEngine, type BigramTraining, lettersEnvironment, trainBigram } from "@mrlm/testing";
import fc from "fast-check";
import { creditsOf } from "../src/credits.ts";
import { grpo } from "../src/index.ts";
import { type GrpoOptions, grpoOptions } from "../src/options.ts";
import { LossMetrics } from "../src/loss-metrics.ts";
import { unitLoss } from "../src/unit-loss.ts";
import { groupSample, options, sample } from "./support/groups.ts";

const distilling = (changes: Partial<GrpoOptions> = {}) => options({ distill_coefficient: 0.5, ...changes });
const slopesOf = (
  group: ReturnType<typeof groupSample>,
  now: Float32Array,
  old: Float32Array,
  teacher: Float32Array,
  settings: GrpoOptions,
) =>
  unitLoss(group, { old, reference: teacher }, { logprob: now }, settings, new LossMetrics(), true)
    .logprob as Float32Array;

describe("the advantage of a token is that of its reward plus the log-ratio of the teacher", () => {
  const [old, teacher] = [Float32Array.of(-1, -2), Float32Array.of(-0.5, -4)];
  const group = groupSample(sample(1, [[0, 1, 1]], [-1.5, -1.5]));

  test.each<[string, Partial<GrpoOptions>, number[]]>([
    // 0.5 (-0.5 - -1) and 0.5 (-4 - -2), each with the advantage 1 of the reward.
    ["together", {}, [1.25, 0]],
    ["reward_coefficient: 2", { reward_coefficient: 2 }, [2.25, 1]],
    ["reward_coefficient: 0", { reward_coefficient: 0 }, [0.25, -1]],
    // Against the sampler's log-probabilities: 0.5 (-0.5 - -1.5) and 0.5 (-4 - -1.5).
    ["old_policy: sampler", { old_policy: "sampler", reward_coefficient: 0 }, [0.5, -1.25]],
    // Ratios e^0.5 and e^-0.5 of the trainer against the sampler.
    ["mismatch", { mismatch: "truncate", mismatch_cap: 1.5, reward_coefficient: 0 }, [0.25 * 1.5, -Math.exp(-0.5)]],
  ])("%s", (_, changes, wanted) => {
    const settings = distilling(changes);
    const now = settings.old_policy === "sampler" ? Float32Array.of(-1.5, -1.5) : old;
    expect(Array.from(slopesOf(group, now, old, teacher, settings))).toEqual(
      wanted.map((advantage) => expect.closeTo(-advantage, 5)),
    );
    const [credit] = creditsOf([group], { trainer: [old], reference: [teacher] }, settings) as [Credit];
    if (settings.mismatch === "none")
      expect(Array.from(credit.advantage as Float32Array)).toEqual(wanted.map((each) => expect.closeTo(each, 5)));
  });

  test("a log-ratio is cut to 10 nats, and without the option an episode has one advantage", () => {
    const far = Float32Array.of(-1, -60);
    expect(Array.from(slopesOf(group, old, old, far, distilling({ reward_coefficient: 0 })))).toEqual([
      expect.closeTo(0, 6),
      expect.closeTo(5, 6),
    ]);
    expect(creditsOf([group], { trainer: [old], reference: [] }, options())).toMatchObject([{ advantage: 1 }]);
  });
});

test("on the policy's own tokens the expected gradient is that of KL(policy || teacher), as finite differences have it", () => {
  const logit = fc.double({ min: -2, max: 2, noNaN: true });
  const logits = fc.array(fc.tuple(logit, logit), { minLength: 2, maxLength: 5 });
  const logSoftmax = (values: readonly number[]): number[] => {
    const log = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));
    return values.map((value) => value - log);
  };
  fc.assert(
    fc.property(logits, (pairs) => {
      const [own, theirs] = [pairs.map(([value]) => value), pairs.map(([, value]) => value)];
      const teacher = logSoftmax(theirs);
      const divergence = (values: readonly number[]): number =>
        logSoftmax(values).reduce((sum, log, i) => sum + Math.exp(log) * (log - (teacher[i] as number)), 0);
      const policy = logSoftmax(own);
      // One episode of one token for each token of the vocabulary, by its probability.
      const slopes = policy.map(
        (log, i) =>
          slopesOf(
            groupSample(sample(0, [[0, 1]], [log])),
            Float32Array.of(log),
            Float32Array.of(log),
            Float32Array.of(teacher[i] as number),
            distilling({ distill_coefficient: 1, reward_coefficient: 0 }),
          )[0] as number,
      );
      for (const k of own.keys()) {
        const found = policy.reduce(
          (sum, log, i) =>
            sum + Math.exp(log) * (slopes[i] as number) * (Number(i === k) - Math.exp(policy[k] as number)),
          0,
        );
        const h = 1e-5;
        const moved = (by: number): number => divergence(own.with(k, (own[k] as number) + by));
        expect(found).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 5);
      }
    }),
    { numRuns: 100 },
  );
});

test.each<[JsonObject, string, RegExp]>([
  [{ reward_coefficient: 0.5 }, "reward_coefficient", /without distill_coefficient/],
  [{ distill_top_k: 4 }, "distill_top_k", /without distill_coefficient/],
  [{ distill_coefficient: 1, kl_coefficient: 0.1 }, "kl_coefficient", /which is the teacher/],
  [{ distill_coefficient: 1, dynamic_sampling: 1 }, "dynamic_sampling", /every group has a signal/],
  [{ distill_coefficient: 1, policy_loss: "gspo" }, "distill_coefficient", /one for the episode/],
  [{ distill_coefficient: 1, reward_coefficient: 0, scale: "batch_std" }, "scale", /reward_coefficient: 0/],
])("what has no effect or no meaning is refused: %j", (given, name, why) => {
  expect(grpoOptions.safeParse({ steps: 3, ...given }).error?.issues).toMatchObject([
    { path: [name], message: expect.stringMatching(why) },
  ]);
});

describe("a run with a teacher of a directory", () => {
  const ALPHABET = "abcd0123456789";
  const config = { vocab_size: ALPHABET.length + 20, initializer_range: 1.5 };

  /** Writes a model with strong preferences. */
  async function teacher(): Promise<string> {
    const directory = join(mkdtempSync(join(tmpdir(), "mrlm-teacher-")), "model");
    const engine = new BigramEngine();
    const tokenizerFiles = characterTokenizerFiles({ alphabet: ALPHABET });
    await engine.createModel({
      model: "teacher",
      role: "policy",
      trainable: true,
      source: { kind: "random", seed: 99, config, tokenizerFiles },
    });
    await engine.export("teacher", directory);
    return directory;
  }

  const training = (stage: JsonObject, more: JsonObject = {}): BigramTraining => ({
    algorithms: [grpo],
    environments: [lettersEnvironment({ reward: () => score(1) })],
    stages: [
      {
        algorithm: "grpo",
        steps: 20,
        prompts_per_step: 24,
        group_size: 1,
        distill_coefficient: 1,
        reward_coefficient: 0,
        learning_rate: 0.3,
        ...stage,
      },
    ],
    config: { eval: { tasks: 0 }, checkpoint: { every: 0 }, ...more },
  });
  const divergences = ({ reports }: Awaited<ReturnType<typeof trainBigram>>): number[] =>
    reports.map(({ metrics }) => (metrics["distill/kl"] as Mean).sum / (metrics["distill/kl"] as Mean).count);

  test("without rewards that differ and in groups of one, the policy becomes the teacher, also with older weights", async () => {
    const path = await teacher();
    for (const [stage, more] of [
      [{}, {}],
      [{ mismatch: "truncate", updates_per_step: 2 }, { play: { mode: "pipelined", lag: 1 } }],
    ] as const) {
      const kl = divergences(await trainBigram(training({ ...stage, reference_model: { path } }, more)));
      expect(kl[0]).toBeGreaterThan(0.3);
      expect(kl.at(-1)).toBeLessThan(0.5 * (kl[0] as number));
    }
  });

  test("over the whole vocabulary or its most likely tokens, without a sampled estimate, it becomes the teacher too", async () => {
    const path = await teacher();
    for (const distill_top_k of ["all", 6]) {
      const kl = divergences(await trainBigram(training({ distill_top_k, steps: 8, reference_model: { path } })));
      expect(kl[0]).toBeGreaterThan(0.3);
      expect(kl.at(-1)).toBeLessThan(0.5 * (kl[0] as number));
    }
  });

  test("without a teacher, and with groups of one beside rewards, it is refused", async () => {
    await expect(trainBigram(training({}))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("grpo has no teacher: `reference_model: { path: ... }`"),
    });
    await expect(
      trainBigram(training({ reward_coefficient: 1, reference_model: { path: await teacher() } })),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("group_size is 1") });
  });
});

import { describe, expect, test } from "@jest/globals";
import { clippedSurrogate, type JsonObject, ratioSlope } from "@mrlm/kit/learning";
import { type BigramOutcome, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { z } from "zod";
import { grpo, grpoWithLoss, perToken } from "../src/index.ts";

/** PPO's clip under another name, with one option of its own. */
const copy = grpoWithLoss({
  id: "copy@1",
  description: "The clip of grpo@1.",
  options: { width: z.number().positive().default(0.2) },
  loss: perToken(({ ratio, advantage, logprob, old }, { width }) => {
    const { loss, slope } = clippedSurrogate(ratio, advantage, { clip_low: width, clip_high: width });
    return { loss, slope: slope * ratioSlope(logprob, old), isClipped: slope === 0 && advantage !== 0 };
  }),
});

const run = (algorithm: string, options: JsonObject) => ({
  algorithms: [grpo, copy],
  stages: [
    { algorithm, steps: 3, prompts_per_step: 4, group_size: 4, learning_rate: 0.2, updates_per_step: 2, ...options },
  ],
});
const metricsOf = ({ reports }: BigramOutcome) => reports.map(({ metrics }) => metrics);

describe("grpo with a loss of its own", () => {
  test.each([
    ["alone", {}],
    [
      "with a reference, a mismatch, minibatches and an entropy bonus",
      { kl_coefficient: 0.05, entropy_coefficient: 0.01, mismatch: "truncate", minibatches: 2 },
    ],
  ])("that is the clip trains as grpo@1 does: %s", async (_name, options) => {
    const [own, built] = [await trainBigram(run("copy", options)), await trainBigram(run("grpo", options))];
    expect(metricsOf(own)).toEqual(metricsOf(built));
    expect(own.weights).toEqual(built.weights);
  });

  test("its options reach it: a narrow clip bounds more tokens", async () => {
    const clipped = async (width: number) =>
      metricsOf(await trainBigram(run("copy", { width }))).reduce((sum, each) => {
        const fraction = each["clip/fraction"];
        return sum + (typeof fraction === "object" ? fraction.sum : (fraction ?? 0));
      }, 0);
    expect(await clipped(0.001)).toBeGreaterThan(await clipped(0.9));
  });

  test("an interrupted run ends with the same weights", async () => {
    expect((await trainBigramInterrupted(run("copy", {}), 2)).weights).toEqual(
      (await trainBigram(run("copy", {}))).weights,
    );
  });

  test.each([
    ["an option of the surrogates of grpo@1", { clip_low: 0.1 }, /clip_low/],
    ["a choice of a surrogate", { policy_loss: "gspo" }, /policy_loss/],
    ["an option that the loss refuses", { width: 0 }, /width/],
    ["an option without effect", { kl_estimator: "k1" }, /kl_estimator.*no effect/s],
  ])("%s is refused", async (_name, options, message) => {
    await expect(trainBigram(run("copy", options))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message) as unknown,
    });
  });
});

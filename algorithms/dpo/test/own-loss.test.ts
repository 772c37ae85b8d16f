import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit/learning";
import { trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { z } from "zod";
import { dpo, dpoWithLoss } from "../src/index.ts";
import { hinge } from "../src/losses/hinge.ts";

/** SLiC under another name, with an option in place of `beta`. */
const copy = dpoWithLoss({
  id: "copy@1",
  description: "The hinge of dpo@1.",
  options: { width: z.number().positive().default(0.1) },
  loss: (pair, { width }) => hinge(pair, { beta: width } as Parameters<typeof hinge>[1]),
});

const run = (algorithm: string, options: JsonObject) => ({
  algorithms: [dpo, copy],
  stages: [
    {
      algorithm,
      steps: 4,
      batch_size: 8,
      prompts: 8,
      group_size: 4,
      pairs_per_group: 2,
      learning_rate: 0.1,
      ...options,
    },
  ],
});

describe("dpo with a loss of its own", () => {
  test.each<JsonObject>([{}, { nll_coefficient: 0.5, reference: "precomputed" }])(
    "that is the hinge trains as dpo@1 does: %j",
    async (options) => {
      const own = await trainBigram(run("copy", options));
      const built = await trainBigram(run("dpo", { loss: "hinge", ...options }));
      expect(own.reports.map(({ metrics }) => metrics)).toEqual(built.reports.map(({ metrics }) => metrics));
      expect(own.weights).toEqual(built.weights);
      const wide = await trainBigram(run("copy", { width: 0.9, ...options }));
      expect(wide.weights).not.toEqual(own.weights);
    },
  );

  test("an interrupted run ends with the same weights", async () => {
    const { weights } = await trainBigram(run("copy", {}));
    expect((await trainBigramInterrupted(run("copy", {}), 2)).weights).toEqual(weights);
  });

  test.each([
    ["a choice of the loss", { loss: "ipo" }, /loss/],
    ["an option of other losses", { label_smoothing: 0.1 }, /label_smoothing/],
    ["an option without effect", { collect_every: 9 }, /collect_every/],
  ])("%s is refused", async (_name, options, message) => {
    await expect(trainBigram(run("copy", options))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message) as unknown,
    });
  });
});

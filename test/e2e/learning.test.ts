import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { meanValue } from "@mrlm/kit";
import { ppo } from "@mrlm/ppo";
import type { AlgorithmDefinition, IterationReport, JsonObject, Mean } from "@mrlm/spec";
import { example, Ordering, type Skill } from "../learning/support/ordering.ts";
import { warmStart } from "../learning/support/warm-start.ts";
import { describeWithEngine } from "./support/engine.ts";
import { temporaryDirectory } from "./support/tiny-run.ts";

// What `npm run test:learning` does with three seeds to its end, with one seed and cut short.
describeWithEngine("from one warm start, in a few steps (skipped where `npm run setup` has not run)", () => {
  const start = join(temporaryDirectory(), "start");
  let ordering: Ordering;
  let before: Skill;

  /** The last stage of an example, but for the options that shorten it. */
  async function learn(algorithm: AlgorithmDefinition<any>, path: string, shorter: JsonObject): Promise<{ readonly after: Skill; readonly last: IterationReport["metrics"] }> {
    await ordering.begin(start);
    let last: IterationReport["metrics"] = {};
    for await (const { metrics } of ordering.learn(algorithm, { ...(example(path).stages.at(-1)?.options as JsonObject), lr_schedule: "constant", ...shorter })) last = metrics;
    return { after: await ordering.measure(), last };
  }

  beforeAll(async () => {
    ordering = await Ordering.open();
    before = await warmStart(ordering, start);
  }, 1_200_000);
  afterAll(() => ordering?.close());

  test("grpo earns more", async () => {
    const { after } = await learn(grpo, "math/grpo.yaml", { steps: 14 });
    expect(after.sampled).toBeGreaterThan(before.sampled + 0.07);
  }, 600_000);

  test("numerics 44: ppo earns more, and its critic begins to foresee the rewards", async () => {
    const { after, last } = await learn(ppo, "math/ppo.yaml", { steps: 16, critic_learning_rate: 1e-3 });
    expect(after.sampled).toBeGreaterThan(before.sampled + 0.07);
    expect(last["value/explained_variance"]).toBeGreaterThan(0);
  }, 600_000);

  test("dpo learns to tell the better episode, and gets no worse itself", async () => {
    const { after, last } = await learn(dpo, "preferences/sampled.yaml", { steps: 40, prompts: 1000 });
    expect(meanValue(last["preference/accuracy"] as Mean)).toBeGreaterThan(0.75);
    expect(meanValue(last["loss/preference"] as Mean)).toBeLessThan(0.55);
    expect(after.greedy).toBeGreaterThan(before.greedy - 0.02);
  }, 600_000);
});

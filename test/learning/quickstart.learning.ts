import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";

describeWithEngine("the quickstart learns (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "seed %d: a warm start of 0.75 to 0.85, then GRPO reaches 0.93 and earns at least 0.10 more when sampled",
    async (seed) => {
      const { code, events, stderr } = await run([
        "train",
        "--json",
        "--config",
        "examples/quickstart/quickstart.yaml",
        "--seed",
        String(seed),
        "--output",
        output,
      ]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const [before, warm, trained] = evaluationsOf(events) as [Skill, Skill, Skill];
      const summary = events.find(({ event }) => event === "summary");
      console.info(
        `seed ${seed}`,
        before,
        warm,
        trained,
        `iterations took ${Number(summary?.["trainingSeconds"]).toFixed(0)} s`,
      );
      expect([before.label, warm.label, trained.label]).toEqual(["start", "sft", "grpo"]);
      expect(before.greedy).toBeLessThan(0.05);
      expect(warm.greedy).toBeGreaterThanOrEqual(0.75);
      expect(warm.greedy).toBeLessThanOrEqual(0.85);
      expect(trained.greedy).toBeGreaterThanOrEqual(0.93);
      expect(trained.sampled - warm.sampled).toBeGreaterThanOrEqual(0.1);
    },
    1_200_000,
  );
});

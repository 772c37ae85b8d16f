import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("the README's own example learns (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "U2: examples/reverse, seed %i: greedy accuracy of at least 0.9 on numbers that are not in training",
    async (seed) => {
      const began = performance.now();
      const { code, events, stderr } = await run([
        "train",
        "--json",
        "--config",
        "examples/reverse/reverse.yaml",
        "--seed",
        String(seed),
        "--output",
        output,
      ]);
      const seconds = (performance.now() - began) / 1000;
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const found = evaluationsOf(events);
      console.info(
        `reverse seed ${seed}: ${found.map(({ label, greedy, sampled }) => `${label} ${greedy.toFixed(2)} (sampled ${sampled.toFixed(2)})`).join(", ")}; ${seconds.toFixed(0)} s`,
      );
      expect(found.map(({ label }) => label)).toEqual(["start", "sft", "grpo"]);
      expect(found[0]?.greedy).toBeLessThan(0.1);
      expect(found[2]?.greedy).toBeGreaterThanOrEqual(0.9);
      expect(found[2]?.sampled).toBeGreaterThan(0.85);
    },
    600_000,
  );
});

import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("self-play learns the theory of nim (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "examples/games/nim.yaml, seed %i: greedy play is optimal in at least 15 of the 16 positions that can be won",
    async (seed) => {
      const began = performance.now();
      const args = ["--config", "examples/games/nim.yaml", "--seed", String(seed), "--output", output];
      const { code, events, stderr } = await run(["train", "--json", ...args]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      // A position is the first agent's; the other one has no turn in it.
      const won = evaluationsOf(events)
        .filter(({ environment }) => environment === "nim@1/first")
        .map(({ greedy }) => Math.round(greedy * 16));
      const seconds = (performance.now() - began) / 1000;
      console.info(`nim seed ${seed}: ${won.join(" -> ")} of 16; ${seconds.toFixed(0)} s`);
      expect(won).toHaveLength(2);
      expect(won[0]).toBeLessThanOrEqual(8);
      expect(won[1]).toBeGreaterThanOrEqual(15);
    },
    600_000,
  );
});

import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

/** Example, environment, and the least mean reward of sampled held-out episodes at the end. Tiny models at level 1. */
const EXAMPLES = [["instructions", "instructions@1", 0.5]] as const;

describeWithEngine("tiny models learn level 1 (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each(EXAMPLES)(
    "examples/games/%s.yaml: %s earns at least %d, from less than 0.1",
    async (name, environment, least) => {
      const began = performance.now();
      const args = ["--config", `examples/games/${name}.yaml`, "--seed", "0", "--output", output];
      const { code, events, stderr } = await run(["train", "--json", ...args]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const found = evaluationsOf(events).filter((each) => each.environment === environment);
      const shown = found.map(
        ({ label, greedy, sampled }) => `${label} ${greedy.toFixed(2)} (sampled ${sampled.toFixed(2)})`,
      );
      console.info(`${name}: ${shown.join(", ")}; ${((performance.now() - began) / 1000).toFixed(0)} s`);
      expect(found[0]?.sampled).toBeLessThan(0.1);
      expect(found.at(-1)?.sampled).toBeGreaterThanOrEqual(least);
    },
    900_000,
  );
});

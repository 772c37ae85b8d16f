import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

const EXAMPLE = join(ROOT, "examples/harbor/learning");

describeWithEngine("a small model learns two commands of a shell (skipped where `npm run setup` has not run)", () => {
  const folder = temporaryDirectory();

  test.each([0, 1, 2])(
    "examples/harbor/learning, seed %i: greedily solved tasks that are not played rise from at most 0.6 to at least 0.9",
    async (seed) => {
      execFileSync(process.execPath, [join(EXAMPLE, "make.ts"), folder]);
      const config = join(folder, "learning.yaml");
      copyFileSync(join(EXAMPLE, "learning.yaml"), config);
      const began = performance.now();
      const trained = await run(["train", "--json", "--config", config, "--seed", String(seed), "--output", folder]);
      expect([trained.code, trained.stderr]).toEqual([0, expect.anything()]);
      const [start, warm, final] = evaluationsOf(trained.events);
      const skills = [start, warm, final].map((skill) => `${skill?.greedy.toFixed(2)}, ${skill?.sampled.toFixed(2)}`);
      console.info(`harbor seed ${seed}: ${skills.join(" -> ")}; ${((performance.now() - began) / 1000).toFixed(0)} s`);
      expect(start?.greedy).toBe(0);
      expect(warm?.greedy).toBeLessThanOrEqual(0.6);
      expect(final?.greedy).toBeGreaterThanOrEqual(0.9);
    },
    2_400_000,
  );
});

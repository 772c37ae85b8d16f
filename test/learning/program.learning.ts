import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine(
  "a small model learns from a program in a workspace (skipped where `npm run setup` has not run)",
  () => {
    const folder = temporaryDirectory();

    test.each([0, 1, 2])(
      "examples/agent/program, seed %i: greedily solved orders that are not played rise from at most 0.2 to at least 0.9",
      async (seed) => {
        cpSync(join(ROOT, "examples/agent/program"), folder, { recursive: true });
        execFileSync("python3", [join(folder, "make.py")]);
        const config = join(folder, "program.yaml");
        const began = performance.now();
        const trained = await run(["train", "--json", "--config", config, "--seed", String(seed), "--output", folder]);
        expect([trained.code, trained.stderr]).toEqual([0, expect.anything()]);
        const [start, warm, final] = evaluationsOf(trained.events);
        const skills = [start, warm, final].map((skill) => `${skill?.greedy.toFixed(2)}, ${skill?.sampled.toFixed(2)}`);
        console.info(
          `program seed ${seed}: ${skills.join(" -> ")}; ${((performance.now() - began) / 1000).toFixed(0)} s`,
        );
        expect(start?.greedy).toBe(0);
        expect(warm?.greedy).toBeLessThanOrEqual(0.2);
        expect(final?.greedy).toBeGreaterThanOrEqual(0.9);
      },
      1_800_000,
    );
  },
);

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Event, ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";

const EXAMPLE = join(ROOT, "examples/tools/tools.yaml");
const BROKEN = join(ROOT, "test/learning/support/broken-calculator");

describeWithEngine("a small model learns to use the calculator (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "examples/tools, seed %i: correct answers rise from at most 0.6 to at least 0.9, and are at most 0.2 if the calculator returns errors",
    async (seed) => {
      const began = performance.now();
      const trained = await train(["--config", EXAMPLE, "--seed", String(seed)]);
      const seconds = (performance.now() - began) / 1000;
      const [start, demonstrated, warm, final] = evaluationsOf(trained);

      const directory = trained.find(({ event }) => event === "summary")?.["directory"] as string;
      const { stages, ...config } = parse(readFileSync(EXAMPLE, "utf8")) as { stages: readonly object[] };
      const withoutCalculator = async (model: string, stage: object): Promise<number[]> => {
        const plugins = { "@mrlm/tool-calculator": false, [BROKEN]: true };
        const path = writeConfig(output, { ...config, plugins, model: { path: model }, stages: [stage] });
        return evaluationsOf(await train(["--config", path, "--seed", String(seed)])).map(({ greedy }) => greedy);
      };
      const practice = stages[2] as object;
      const broken = [
        ...(await withoutCalculator(checkpointOf(directory, 2), practice)),
        ...(await withoutCalculator(directory, { ...practice, steps: 5 })),
      ];

      console.info(
        `tools seed ${seed}: ${[start, demonstrated, warm, final].map((skill) => skill?.greedy.toFixed(2)).join(" -> ")}; broken ${broken.map((greedy) => greedy.toFixed(2)).join(", ")}; ${seconds.toFixed(0)} s`,
      );
      expect(start?.greedy).toBe(0);
      expect(warm?.greedy).toBeLessThanOrEqual(0.6);
      expect(final?.greedy).toBeGreaterThanOrEqual(0.9);
      expect(broken).toHaveLength(4);
      expect(Math.max(...broken)).toBeLessThanOrEqual(0.2);
    },
    1_200_000,
  );

  async function train(args: readonly string[]): Promise<readonly Event[]> {
    const { code, events, stderr } = await run(["train", "--json", ...args, "--output", output]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    return events;
  }
});

/** Returns the checkpoint at the end of a stage. */
function checkpointOf(directory: string, stage: number): string {
  const name = readdirSync(join(directory, "checkpoints")).find((each) => each.endsWith(`-${stage}`));
  return join(directory, "checkpoints", name as string);
}

import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { MetricsFile } from "@mrlm/runtime";
import { createProject, projectName } from "create-mrlm";
import { describeWithEngine } from "./support/engine.ts";
import { COMMAND, ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const directory = temporaryDirectory();

/** GRPO with a squared distance from a target ratio, as the README of @mrlm/grpo shows a loss. */
const SOURCE = `import { grpoWithLoss, perToken } from "@mrlm/grpo";
import { definePlugin, ratioSlope } from "@mrlm/kit/learning";
import { z } from "zod";

export const algorithm = grpoWithLoss({
  id: "soft@1",
  description: "GRPO with a quadratic penalty in place of the clip.",
  options: { penalty: z.number().nonnegative().default(1).describe("Weight of the squared distance of the ratio from 1") },
  loss: perToken(({ ratio, advantage, logprob, old }, { penalty }) => ({
    loss: penalty * (ratio - 1) ** 2 - ratio * advantage,
    slope: (2 * penalty * (ratio - 1) - advantage) * ratioSlope(logprob, old),
  })),
});

export default definePlugin({ name: "mrlm-soft", algorithms: [algorithm] });
`;

/** A small model and three steps in place of the stages of the template. */
function small(yaml: string): string {
  const stage =
    "{ algorithm: soft, steps: 3, prompts_per_step: 4, group_size: 4, updates_per_step: 2, penalty: 0.5, kl_coefficient: 0.1, learning_rate: 1.0e-3 }";
  return yaml
    .replace(
      /hidden_size: \d+, intermediate_size: \d+, num_hidden_layers: \d+/,
      "hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1",
    )
    .replace(/stages:[^]*?\n\n/, `stages: [${stage}]\n\n`)
    .replace(/eval: .*/, "eval: { tasks: 4 }");
}

describeWithEngine("a loss of its own (skipped where `npm run setup` has not run)", () => {
  test("a project of mrlm create trains with it", async () => {
    const name = projectName("mrlm-soft");
    const { folder } = await createProject({ kind: "algorithm", name, directory, manager: "npm", from: ROOT });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "src/index.ts"), SOURCE);
    const config = join(folder, "mrlm.yaml");
    writeFileSync(config, small(readFileSync(config, "utf8")));
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: "" } }))
        .stdout;
    await run(join(ROOT, "node_modules/typescript/bin/tsc"));
    const output = await run(COMMAND, "train", "--config", "mrlm.yaml", "--output", directory);
    const trained = /^run directory: (\S+)$/m.exec(output)?.[1] ?? "";
    const rows = new MetricsFile(join(resolve(folder, trained), "metrics.jsonl")).rows();
    const iterations = rows.filter(({ kind }) => kind === "iteration");
    expect(iterations.map(({ step, stage }) => [step, stage])).toEqual([1, 2, 3].map((step) => [step, "soft"]));
    // The weights move: in the second update of a batch the ratio is no longer 1.
    expect(iterations.some((row) => row["ratio/mean"] !== 1)).toBe(true);
  }, 300_000);
});

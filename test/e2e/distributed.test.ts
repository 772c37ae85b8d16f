import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MetricsFile } from "@mrlm/runtime";
import { describeWithEngine } from "./support/engine.ts";
import { isAlive, Mrlm, ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/tiny-run.ts";

const output = temporaryDirectory();
const example = readFileSync(join(ROOT, "examples/distributed/distributed.yaml"), "utf8");
const configs = {
  one: example.replace(/^distributed:\n(?: {2}.*\n)+/m, ""),
  ddp: example,
  fsdp: example.replace("strategy: ddp", "strategy: fsdp"),
};

/** Loss, where there is one, and gradient norm of each iteration. */
async function train(name: keyof typeof configs): Promise<number[][]> {
  const config = join(output, `${name}.yaml`);
  writeFileSync(config, configs[name]);
  const mrlm = new Mrlm(["train", "--json", "--config", config, "--output", join(output, name)]);
  const { code, stderr, events } = await mrlm.finished;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("has no effect")]);
  while (mrlm.pids("engine").some(isAlive)) await sleep(50);
  const directory = events.find(({ event }) => event === "summary")?.["directory"] as string;
  const rows = new MetricsFile(join(directory, "metrics.jsonl")).rows() as unknown as { metrics?: Record<string, number> }[];
  return rows.flatMap(({ metrics = {} }) => (metrics["optim/grad_norm"] === undefined ? [] : [[metrics["loss/nll"] ?? 0, metrics["optim/grad_norm"]]]));
}

describeWithEngine("one configuration, one process or two (skipped where `npm run setup` has not run)", () => {
  test("numerics 2, 7: DDP and FSDP of two ranks have the loss and gradient norm of one process, to 1e-5, for 20 steps with uneven data", async () => {
    const one = await train("one");
    expect(one).toHaveLength(22);
    for (const name of ["ddp", "fsdp"] as const) {
      const found = await train(name);
      expect(found).toHaveLength(22);
      for (const [i, values] of found.slice(0, 20).entries())
        for (const [j, value] of values.entries()) expect(Math.abs(value - (one[i]?.[j] as number)) / Math.max(1, value)).toBeLessThan(1e-5);
    }
  }, 600_000);
});

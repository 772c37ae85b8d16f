import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { parse } from "yaml";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Event, ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";

const EXAMPLE = "examples/async/async.yaml";
const LAG = 4;
/** Twice the standard error of a mean of 2,560 characters of which nine in ten are right. */
const NOISE = 0.012;
const SEEDS = [0, 1, 2];

/** Returns the values of a metric over the iterations of GRPO. */
function seriesOf(events: readonly Event[], metric: string): number[] {
  return events.flatMap((event) =>
    event.event === "iteration" && event["name"] === "grpo"
      ? [(event["metrics"] as Record<string, number>)[metric] as number]
      : [],
  );
}

async function train(config: string, seed: number, output: string): Promise<readonly Event[]> {
  const { code, events, stderr } = await run([
    "train",
    "--json",
    "--config",
    config,
    "--seed",
    String(seed),
    "--output",
    output,
  ]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return events;
}

describeWithEngine("asynchronous play learns (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each(SEEDS)(
    "seed %d: the quickstart's task with tokens of up to four versions before and truncated weights, greedy accuracy of at least 0.92",
    async (seed) => {
      const events = await train(EXAMPLE, seed, output);
      const [, warm, trained] = evaluationsOf(events) as [Skill, Skill, Skill];
      const ages = seriesOf(events, "offpolicy/lag_max");
      const shown = [warm, trained].map(({ greedy, sampled }) => `greedy ${greedy}, sampled ${sampled.toFixed(3)}`);
      console.info(`async, seed ${seed}: ${shown.join(" -> ")}; age of tokens at most ${Math.max(...ages)} versions`);
      expect(trained.greedy).toBeGreaterThanOrEqual(0.92);
      expect(trained.sampled - warm.sampled).toBeGreaterThanOrEqual(0.1);
      expect(ages).toHaveLength(80);
      expect(Math.max(...ages)).toBeLessThanOrEqual(LAG);
      // Play was ahead of learning: the weights had something to correct.
      expect(Math.max(...ages)).toBeGreaterThanOrEqual(1);
    },
    1_200_000,
  );

  test("with lognormal waits of 1 s in the mean and 10 s at the 99th percentile the final reward is within the spread of runs in turn", async () => {
    const finals = async (mode: "sync" | "async"): Promise<number[]> => {
      const path = writeConfig(output, waiting(mode), `${mode}.yaml`);
      // Runs that wait cost no time of the processor: all seeds at once.
      const all = await Promise.all(SEEDS.map((seed) => train(path, seed, output)));
      return all.map((events) => meanOf(seriesOf(events, "reward/mean").slice(-10)));
    };
    const [sync, async] = [await finals("sync"), await finals("async")];
    const shown = (values: readonly number[]): string => values.map((value) => value.toFixed(3)).join(", ");
    console.info(`rewards of the last ten steps: sync ${shown(sync)}; async ${shown(async)}`);
    expect(Math.min(...sync)).toBeGreaterThan(0.9);
    expect(meanOf(async)).toBeGreaterThanOrEqual(Math.min(...sync) - NOISE);
  }, 2_400_000);
});

/** The model of the example with the environment of the benchmark, which rewards the share of ones among four characters: 0.03 at the begin. */
function waiting(mode: "sync" | "async"): JsonObject {
  const { model } = parse(readFileSync(join(ROOT, EXAMPLE), "utf8")) as { readonly model: JsonObject };
  return {
    name: `waits-${mode}`,
    model,
    plugins: { [join(ROOT, "benchmarks/async/environment/")]: true },
    environments: [{ id: "waiting@1" }],
    play: mode === "sync" ? {} : { mode, lag: LAG },
    sampling: { temperature: 1, max_tokens: 4, concurrency: 512 },
    stages: [
      {
        algorithm: "grpo@1",
        steps: 60,
        prompts_per_step: 8,
        group_size: 8,
        mismatch: "truncate",
        learning_rate: 1e-3,
      },
    ],
    eval: { tasks: 0 },
    checkpoint: { every: 0 },
    server: { spawn: true },
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { parse } from "yaml";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";

const EXAMPLE = join(ROOT, "examples/reverse");
const SEEDS = [0, 1, 2];
/** Steps of the warm start: it leaves GRPO something to learn. */
const WARM_STEPS = 40;
/** Sampled episodes of each held-out task. */
const SAMPLES = 8;
/** Held-out tasks of the example; an evaluation has no finer steps. */
const TASKS = 50;

describeWithEngine(
  "GRPO on a bridge learns what it learns natively (skipped where `npm run setup` has not run)",
  () => {
    const output = temporaryDirectory();
    const { stages, ...example } = parse(readFileSync(join(EXAMPLE, "reverse.yaml"), "utf8")) as JsonObject & {
      readonly stages: readonly [JsonObject, JsonObject];
    };
    const [demonstrations, practice] = stages;
    const plugins = { [EXAMPLE]: true };
    let server: Mrlm;
    let url = "";

    beforeAll(async () => {
      const config = writeConfig(output, { ...example, stages: [...stages], plugins });
      const ports = ["--port", "0", "--http-port", "reverse=0"];
      server = new Mrlm(["serve", "--environments", "reverse", ...ports, "--config", config, "--json"]);
      const { httpByEnvironment } = await server.event(({ event }) => event === "listening");
      url = `http://${(httpByEnvironment as Record<string, string>)["reverse@1"] as string}`;
    }, 60_000);

    afterAll(async () => {
      server.child.kill("SIGTERM");
      await server.finished;
    });

    test("examples/reverse, three seeds: both reach the same reward on held-out tasks, within the spread of the seeds", async () => {
      const starts: number[] = [];
      const native: Skill[] = [];
      const bridged: Skill[] = [];
      for (const seed of SEEDS) {
        const warm = await train("warm start", seed, { stages: [{ ...demonstrations, steps: WARM_STEPS }] });
        starts.push(warm.skills.at(-1)?.sampled as number);
        const from = { model: { path: warm.directory }, stages: [practice] };
        native.push(...(await train("native", seed, from)).skills.slice(-1));
        const environments = [{ id: "openenv", options: { url } }];
        bridged.push(...(await train("bridge", seed, { ...from, environments })).skills.slice(-1));
      }
      expect([native.length, bridged.length]).toEqual([SEEDS.length, SEEDS.length]);
      for (const measure of ["greedy", "sampled"] as const) {
        const [one, other] = [native, bridged].map((skills) => skills.map((skill) => skill[measure]));
        const spread = Math.max(range(one as number[]), range(other as number[]), 1 / TASKS);
        const difference = mean(other as number[]) - mean(one as number[]);
        console.info(
          `bridge, ${measure}: native ${shown(one)}, bridge ${shown(other)}; difference ${difference.toFixed(3)}, spread ${spread.toFixed(3)}`,
        );
        expect(Math.abs(difference)).toBeLessThanOrEqual(spread);
      }
      expect(mean(bridged.map(({ sampled }) => sampled)) - mean(starts)).toBeGreaterThanOrEqual(0.15);
    }, 1_200_000);

    async function train(name: string, seed: number, changes: JsonObject) {
      const path = writeConfig(output, { ...example, plugins, eval: { tasks: TASKS, samples: SAMPLES }, ...changes });
      const args = ["--config", path, "--seed", String(seed), "--output", output];
      const { code, events, stderr } = await run(["train", "--json", ...args]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const summary = events.find(({ event }) => event === "summary") as {
        directory?: string;
        trainingSeconds?: number;
      };
      const skills = evaluationsOf(events);
      console.info(
        `${name}, seed ${seed}: ${skills.map(({ greedy, sampled }) => `${greedy.toFixed(2)} (sampled ${sampled.toFixed(2)})`).join(" -> ")}; ${summary.trainingSeconds?.toFixed(0)} s`,
      );
      return { skills, directory: summary.directory as string };
    }
  },
);

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function range(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}

function shown(values: readonly number[] | undefined): string {
  return values?.map((value) => value.toFixed(3)).join(", ") ?? "";
}

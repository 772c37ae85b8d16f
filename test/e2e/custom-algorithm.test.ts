import { execFileSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { loadConfig, MetricsFile } from "@mrlm/runtime";
import { describeWithEngine } from "./support/engine.ts";
import { ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();

describeWithEngine("the algorithm of examples/custom-algorithm (skipped where `npm run setup` has not run)", () => {
  test("trains by its own YAML, at tiny size", async () => {
    const folder = join(ROOT, "examples/custom-algorithm");
    const { config } = loadConfig(join(folder, "best-of-n.yaml"));
    const small = { ...config, eval: { tasks: 4 }, engine: { threads: 1 }, stages: config.stages.map((stage) => ({ ...stage, options: { ...stage.options, steps: 2 } })) };
    const { events, code, stderr } = await run(["train", "--json", "--config", writeConfig(directory, small), "--output", directory]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const rows = new MetricsFile(join(events.find(({ event }) => event === "summary")?.["directory"] as string, "metrics.jsonl")).rows();
    expect(rows.filter(({ stage, kind }) => kind === "iteration" && stage === "best-of-n")).toHaveLength(2);
  }, 300_000);
});

test("templates/algorithm: a copy of it compiles, and its test passes", () => {
  const copy = join(directory, "algorithm");
  cpSync(join(ROOT, "templates/algorithm"), copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const node = (cwd: string, ...args: string[]): string => execFileSync(process.execPath, args, { cwd, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } });
  // The declarations that an installed package would bring; the set-up of tests makes none.
  node(ROOT, tsc, "--build", "core/kit", "core/testing");
  node(copy, tsc);
  expect(node(copy, "--test", "test/*.test.ts")).toMatch(/pass 2\n/);
}, 300_000);

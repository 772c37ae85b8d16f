import { createHash } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWithEngine } from "./support/engine.ts";
import { type Finished, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();
const pairs = Array.from({ length: 64 }, (_, i) => ({
  prompt: `word ${i % 7}`,
  chosen: "a".repeat(1 + (i % 4)),
  rejected: "b".repeat(1 + (i % 3)),
}));
writeFileSync(join(directory, "pairs.jsonl"), pairs.map((pair) => JSON.stringify(pair)).join("\n"));
const { environments: _, sampling: __, eval: ___, server: ____, ...base } = TINY;
const config = (steps: number, name: string): string =>
  writeConfig(
    directory,
    {
      ...base,
      name,
      stages: [
        {
          algorithm: "reward@1",
          data: "pairs.jsonl",
          heldout: "pairs.jsonl",
          heldout_every: 4,
          steps,
          batch_size: 8,
          learning_rate: 0.01,
        },
      ],
      checkpoint: { every: 2 },
    },
    `${name}.yaml`,
  );
const train = (...args: string[]): Promise<Finished> => run(["train", "--json", ...args]);
const runOf = ({ events }: Finished): string =>
  events.find(({ event }) => event === "summary")?.["directory"] as string;
const digest = (path: string, file: string): string =>
  createHash("sha256")
    .update(readFileSync(join(path, "model", file)))
    .digest("hex");

describeWithEngine("a run with reward@1 (skipped where `npm run setup` has not run)", () => {
  let finished: string;

  test("trains, measures the held-out pairs, and ends with the same bits when it is resumed", async () => {
    const whole = await train("--config", config(12, "whole"), "--output", join(directory, "whole"));
    expect([whole.code, whole.stderr]).toEqual([0, expect.anything()]);
    finished = runOf(whole);
    const heldout = whole.events.flatMap(({ event, metrics }) =>
      event === "iteration" && "heldout/preference/accuracy" in (metrics as object)
        ? [metrics as Record<string, number>]
        : [],
    );
    expect(heldout).toHaveLength(3);
    expect(heldout.at(-1)).toMatchObject({ "heldout/preference/accuracy": 1 });
    expect(heldout.at(-1)?.["heldout/calibration_error"]).toBeLessThan(0.5);
    const part = await train("--config", config(5, "part"), "--output", join(directory, "part"));
    const resumed = await train("--resume", runOf(part), "--steps", "12");
    expect([part.code, resumed.code]).toEqual([0, 0]);
    for (const file of ["model.safetensors", "value_head.safetensors"])
      expect(digest(runOf(resumed), file)).toBe(digest(finished, file));
  }, 900_000);

  test("its model scores rows, from the directory of the run", async () => {
    const rows = join(directory, "rows.jsonl");
    const row = (answer: string) => JSON.stringify({ question: "word 1", answer, expected: "" });
    writeFileSync(rows, [row("aaa"), row("bbb")].join("\n"));
    const options = JSON.stringify({ model: finished });
    const { code, stdout, stderr } = await run([
      ...["score", "--scorer", "reward-model", "--file", rows, "--judge-options", options],
    ]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const [better, worse] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { reward: number });
    expect(better?.reward).toBeGreaterThan((worse?.reward as number) + 0.5);
  }, 600_000);

  const watched = (model: string, name: string, steps = 6): string => {
    const environments = TINY.environments.map((each) => ({ ...each, watch: { scorer: "reward-model@1", share: 1 } }));
    const stages = [{ algorithm: "grpo@1", steps, prompts_per_step: 4, group_size: 8, learning_rate: 1e-3 }];
    const plugins = { "@mrlm/reward-model": { model } };
    return writeConfig(directory, { ...TINY, name, environments, stages, plugins, eval: { tasks: 0 } }, `${name}.yaml`);
  };

  test("a watch by it measures the same when a run is resumed, and leaves its bits", async () => {
    const whole = await train("--config", watched(finished, "watched"), "--output", join(directory, "watched"));
    const part = await train("--config", watched(finished, "stopped", 3), "--output", join(directory, "stopped"));
    const resumed = await train("--resume", runOf(part), "--steps", "6");
    expect([whole.code, part.code, resumed.code]).toEqual([0, 0, 0]);
    const rewards = ({ events }: Finished): unknown[] =>
      events.flatMap(({ event, metrics }) =>
        event === "iteration" ? [(metrics as Record<string, number>)["watch/reward"]] : [],
      );
    expect(rewards(whole)).toEqual(Array.from({ length: 6 }, () => expect.any(Number)));
    expect(rewards(resumed)).toEqual(rewards(whole).slice(3));
    expect(digest(runOf(resumed), "model.safetensors")).toBe(digest(runOf(whole), "model.safetensors"));
  }, 900_000);

  test("a path without a model is refused before the engine starts", async () => {
    const { code, stderr } = await run(["train", "--config", watched(join(directory, "finishd"), "missing")]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("MODEL_DIRECTORY_MISSING")]);
    expect(stderr).not.toContain("starting the engine");
  }, 120_000);

  test("a model without a value head gives no score, and no zero", async () => {
    const rows = join(directory, "rows.jsonl");
    const plain = join(directory, "plain");
    cpSync(join(finished, "model"), plain, { recursive: true });
    rmSync(join(plain, "value_head.safetensors"));
    const { stdout } = await run([
      ...["score", "--scorer", "reward-model", "--file", rows, "--judge-options", JSON.stringify({ model: plain })],
    ]);
    const [first] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(first).toMatchObject({ reward: null, verdict: "failed", reason: expect.stringContaining("value_head") });
  }, 600_000);
});

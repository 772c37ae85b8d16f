import { afterAll, beforeEach, expect, test } from "@jest/globals";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adapterDirectory, modelDirectory } from "@mrlm/runtime";
import { Checkpoints } from "../src/run/checkpoints.ts";

const made: string[] = [];
let run = "";
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), "mrlm-models-"));
  made.push(run);
  writeFileSync(join(run, "config.yaml"), "");
  record("running");
});
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

const record = (status: string): void => writeFileSync(join(run, "run.json"), JSON.stringify({ status }));
/** Writes the model of a run or a checkpoint. */
const model = async (directory: string): Promise<void> => {
  const path = join(directory, "model");
  mkdirSync(path);
  writeFileSync(join(path, "weights.safetensors"), "0123456789");
};
const checkpoint = (step: number, write = model): Promise<string> =>
  new Checkpoints(run).write(
    { step, stage: 0 },
    9,
    {},
    { engine: async (path) => void mkdirSync(path), models: write },
  );

test("a finished run names its model; an unfinished or extended run names its newest checkpoint, with a notice", async () => {
  const [first, second] = [await checkpoint(1), await checkpoint(2)];
  expect(await modelDirectory(run)).toEqual({
    path: join(second, "model"),
    run,
    notice: expect.stringContaining("checkpoint 00000002-0"),
  });
  await model(run);
  expect(await modelDirectory(join(run, "checkpoints"))).toMatchObject({ path: join(second, "model") });
  record("finished");
  expect(await modelDirectory(run)).toEqual({ path: join(run, "model"), run });
  expect(await modelDirectory(first)).toEqual({ path: join(first, "model"), run });
  for (const path of [join(run, "model"), join(first, "model")])
    expect(await modelDirectory(path)).toEqual({ path, run });
});

test("a damaged checkpoint is passed over with its fault, and refused where it is named", async () => {
  const [first, second] = [await checkpoint(1), await checkpoint(2)];
  truncateSync(join(second, "model", "weights.safetensors"), 3);
  expect(await modelDirectory(run)).toMatchObject({
    path: join(first, "model"),
    notice: expect.stringContaining("was cut"),
  });
  await expect(modelDirectory(second)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
  appendFileSync(join(first, "model", "weights.safetensors"), "more");
  await expect(modelDirectory(first)).rejects.toMatchObject({
    message: expect.stringMatching(/ was changed: \S+ has (\d+) bytes instead of \d+\.$/),
  });
});

test("M1: the adapter of a run's model is in a directory of its own; another directory stands for itself", async () => {
  const path = join(run, "model");
  await model(run);
  expect(adapterDirectory(path)).toBe(path);
  mkdirSync(join(path, "adapter"));
  expect(adapterDirectory(path)).toBe(join(path, "adapter"));
});

test("a missing model is reported with a hint", async () => {
  await expect(modelDirectory(run)).rejects.toMatchObject({
    code: "MODEL_DIRECTORY_MISSING",
    message: expect.stringContaining("no checkpoint yet"),
    hint: expect.stringContaining(`--resume ${run}`),
  });
  const old = await checkpoint(1, async () => undefined);
  await expect(modelDirectory(old)).rejects.toMatchObject({
    code: "MODEL_DIRECTORY_MISSING",
    message: expect.stringContaining("older mrlm"),
  });
  expect(await modelDirectory(join(run, "elsewhere", "qwen"))).toMatchObject({ path: join(run, "elsewhere", "qwen") });
});

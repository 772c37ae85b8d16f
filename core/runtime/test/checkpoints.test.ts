import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parseConfig, RunDirectory } from "@mrlm/runtime";
import { Checkpoints, openCheckpoint } from "../src/run/checkpoints.ts";

let directory = "";
const made: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "mrlm-checkpoints-"));
  made.push(directory);
});
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

const save = async (path: string): Promise<void> => {
  mkdirSync(join(path, "policy"), { recursive: true });
  writeFileSync(join(path, "policy", "weights.bin"), Buffer.alloc(4096, 7));
  writeFileSync(join(path, "optimizer.bin"), Buffer.alloc(1000, 1));
};
const contents = {
  engine: save,
  models: async (path: string): Promise<void> => {
    mkdirSync(join(path, "model"));
    writeFileSync(join(path, "model", "config.json"), JSON.stringify({ model_type: "none" }));
  },
};
const write = (step: number, stage = 0, keep = 10) =>
  new Checkpoints(directory).write({ step, stage }, keep, { step }, contents);
const silently = (): void => undefined;

describe("numerics 53: what stands under a checkpoint's name is complete", () => {
  test("the newest is used, by step and then by stage", async () => {
    for (const [step, stage] of [
      [9, 0],
      [100, 0],
      [10, 0],
      [100, 1],
    ] as const)
      await write(step, stage);
    const newest = await new Checkpoints(directory).newest(silently);
    expect(newest?.path).toBe(join(directory, "checkpoints", "00000100-1"));
    expect(newest?.state).toEqual({ step: 100 });
    expect(readFileSync(join(newest?.engineDirectory as string, "policy", "weights.bin"))).toHaveLength(4096);
  });

  test("only so many are kept", async () => {
    for (const step of [1, 2, 3, 4]) await write(step, 0, 2);
    expect(new Checkpoints(directory).names()).toEqual(["00000004-0", "00000003-0"]);
  });

  test("a write that was interrupted anywhere leaves the one before it in use", async () => {
    await write(1);
    await expect(
      new Checkpoints(directory).write(
        { step: 2, stage: 0 },
        10,
        {},
        { ...contents, models: () => Promise.reject(new Error("killed")) },
      ),
    ).rejects.toThrow("killed");
    expect((await new Checkpoints(directory).newest(silently))?.state).toEqual({ step: 1 });
    new Checkpoints(directory).clean(await openCheckpoint(join(directory, "checkpoints", "00000001-0")));
    expect(readdirSync(join(directory, "checkpoints"))).toEqual(["00000001-0"]);
    await write(2);
    expect((await new Checkpoints(directory).newest(silently))?.state).toEqual({ step: 2 });
  });

  test("any damage to any file is recognised, named, and passed over", async () => {
    const files = [
      "engine/policy/weights.bin",
      "engine/optimizer.bin",
      "model/config.json",
      "state.json",
      "manifest.json",
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), fc.constantFrom("cut", "flip", "remove"), async (name, damage) => {
        rmSync(join(directory, "checkpoints"), { recursive: true, force: true });
        await write(1);
        const path = join(await write(2), name);
        if (damage === "cut") truncateSync(path, 5);
        else if (damage === "remove") rmSync(path);
        else
          writeFileSync(
            path,
            readFileSync(path).map((byte, i) => (i === 3 ? byte ^ 1 : byte)),
          );
        await expect(openCheckpoint(join(directory, "checkpoints", "00000002-0"))).rejects.toMatchObject({
          code: "CHECKPOINT_INCOMPLETE",
          message: expect.stringContaining("00000002-0"),
        });
        const notices: string[] = [];
        expect((await new Checkpoints(directory).newest((text) => notices.push(text)))?.state).toEqual({ step: 1 });
        expect(notices).toHaveLength(1);
      }),
      { numRuns: 20 },
    );
  });

  test("when all are damaged, that is an error and no silent beginning", async () => {
    truncateSync(join(await write(1), "state.json"), 1);
    await expect(new Checkpoints(directory).newest(silently)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
    expect(await new Checkpoints(join(directory, "other")).newest(silently)).toBeUndefined();
    expect(existsSync(join(directory, "other"))).toBe(false);
  });
});

test("a directory that is no run is RUN_NOT_FOUND, with what to give instead", () => {
  expect(() => RunDirectory.open(directory)).toThrow(
    expect.objectContaining({ code: "RUN_NOT_FOUND", hint: expect.stringContaining("mrlm train") }),
  );
});

test("an output directory below a file is refused without creating anything; a missing one below a directory is not", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  expect(() => RunDirectory.assertCreatable(join(file, "runs"))).toThrow(
    expect.objectContaining({ code: "OUTPUT_INVALID", hint: expect.stringContaining("--output") }),
  );
  RunDirectory.assertCreatable(join(directory, "new", "runs"));
  expect(existsSync(join(directory, "new"))).toBe(false);
});

(existsSync("/proc/self") ? test : test.skip)(
  "a run directory that cannot be made is OUTPUT_INVALID, also where Node would try for ever (skipped where there is no /proc)",
  () => {
    const config = parseConfig("{ model: { path: m }, stages: [{ algorithm: sft }], output: /proc/nope/deeper }", {
      path: "x.yaml",
    }).config;
    expect(() => RunDirectory.create(config, "")).toThrow(
      expect.objectContaining({ code: "OUTPUT_INVALID", message: expect.stringContaining("/proc/nope/deeper") }),
    );
  },
);

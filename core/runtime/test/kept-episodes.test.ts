import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toRecordedRows } from "@mrlm/kit/learning";
import type { EpisodeQuery } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { readRun } from "../src/diagnosis/run-record.ts";
import { beforeAndAfter } from "../src/episodes/before-and-after.ts";
import { keptEpisodes } from "../src/episodes/kept-episodes.ts";
import { RunDirectory } from "../src/run/run-directory.ts";
import { trainRun } from "../src/train/train-run.ts";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const query = (changes: Partial<EpisodeQuery> = {}): EpisodeQuery => ({ order: "newest", limit: 3, ...changes });
let directory: string;
beforeAll(async () => {
  const { prepared, host } = await prepare({
    ...CONFIG,
    stages: [{ algorithm: "reinforce", steps: 12, tasks: 4, group_size: 8 }],
    eval: { tasks: 4 },
  });
  directory = (await trainRun({ prepared, host, engine: new BigramEngine() })).directory;
});

describe("U4: episodes of a run", () => {
  test("the newest are the last evaluation's; of a split, a task or an order only those", async () => {
    const newest = await keptEpisodes(directory, query());
    expect(newest.map(({ step, stage }) => [step, stage])).toEqual(Array(3).fill([12, "evaluation/sampled"]));
    const training = await keptEpisodes(directory, query({ task: "train", limit: 1000 }));
    expect([training.length, training.at(0)?.step, training.at(-1)?.step]).toEqual([12 * 4 * 8, 1, 12]);
    const ofTask = await keptEpisodes(directory, query({ task: "eval/1", limit: 100 }));
    expect(ofTask.map(({ step, stage, row }) => [step, stage, row.task])).toEqual(
      [0, 12].flatMap((step) => ["greedy", "sampled"].map((kind) => [step, `evaluation/${kind}`, "eval/1"])),
    );
    expect(await keptEpisodes(directory, query({ order: "failed" }))).toEqual([]);
  });

  test("the best and the worst are those of all that were scored", async () => {
    const all = (await keptEpisodes(directory, query({ limit: 10_000 })))
      .map(({ row }) => row.reward as number)
      .sort((one, other) => one - other);
    const rewards = async (order: EpisodeQuery["order"]) =>
      (await keptEpisodes(directory, query({ order, limit: 5 }))).map(({ row }) => row.reward);
    expect(await rewards("best")).toEqual(all.slice(-5).reverse());
    expect(await rewards("worst")).toEqual(all.slice(0, 5));
    expect(new Set(all).size).toBeGreaterThan(2);
  });

  test("a recorded file, or a directory of them, has the same answers as the run that it came from", async () => {
    const run = RunDirectory.open(directory);
    const store = run.readEpisodes();
    const rows = Array.from(store?.read() ?? [], ({ trajectory }) => toRecordedRows(trajectory, () => "")).flat();
    store?.close();
    const folder = temporaryDirectory();
    const [half, file] = [Math.floor(rows.length / 2), join(folder, "b.jsonl")];
    const write = (path: string, part: typeof rows): void =>
      writeFileSync(path, part.map((row) => `${JSON.stringify(row)}\n`).join(""));
    write(join(folder, "a.jsonl"), rows.slice(0, half));
    write(file, rows.slice(half));
    for (const order of ["best", "worst", "newest"] as const) {
      const [ofRun, ofFiles] = [
        await keptEpisodes(directory, query({ order, task: "train", limit: 4 })),
        await keptEpisodes(folder, query({ order, limit: 4 })),
      ];
      expect([order, ofFiles.map(({ row }) => row.reward)]).toEqual([order, ofRun.map(({ row }) => row.reward)]);
    }
    expect(await keptEpisodes(file, query({ limit: 10_000 }))).toHaveLength(rows.length - half);
    write(file, [
      { ...(rows[0] as (typeof rows)[number]), error: { code: "ENVIRONMENT_FAILED", message: "gone" }, reward: null },
    ]);
    expect(await keptEpisodes(file, query({ order: "failed" }))).toHaveLength(1);
    writeFileSync(file, '{"prompt": "x"}\n');
    await expect(keptEpisodes(file, query())).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining("row 1"),
    });
  });

  test("one task that improved and one that did not come from the first and the last evaluation", () => {
    const examples = beforeAndAfter(RunDirectory.open(directory));
    expect(examples).toHaveLength(2);
    expect(new Set(examples.map(({ task }) => task)).size).toBe(2);
    const [improved] = examples;
    expect(improved?.after.reward).toBeGreaterThan(improved?.before.reward as number);
    for (const { task, before, after } of examples)
      expect([before.task, after.task, before.messages[0], before.seed]).toEqual([
        task,
        task,
        after.messages[0],
        after.seed,
      ]);
  });

  test("a missing run is reported with the nearest name", async () => {
    const refused = (path: string, changes: Partial<EpisodeQuery> = {}) =>
      keptEpisodes(path, query(changes)).catch((error: unknown) => error);
    expect(await refused(directory, { task: "evl/1" })).toMatchObject({
      code: "TASK_NOT_FOUND",
      message: expect.stringMatching(/it has .*4 tasks of eval.* Did you mean "eval\/1"\?$/),
    });
    const parent = join(directory, "..");
    expect(await refused(`${directory}x`)).toMatchObject({
      code: "RUN_NOT_FOUND",
      message: expect.stringContaining(`Did you mean "${directory.split("/").at(-1)}"?`),
    });
    expect(await refused(parent)).toMatchObject({ code: "RUN_NOT_FOUND", hint: expect.stringContaining(directory) });
    const empty = temporaryDirectory();
    mkdirSync(join(empty, "runs"));
    expect(await refused(empty)).toMatchObject({
      code: "RUN_NOT_FOUND",
      message: expect.stringContaining("neither a run's directory, an episode store nor a recorded file"),
    });
    const { prepared, host } = await prepare({
      ...CONFIG,
      stages: [{ algorithm: "reinforce", steps: 1 }],
      eval: { tasks: 0 },
      output: { directory: temporaryDirectory(), trajectories: false },
    });
    const bare = await trainRun({ prepared, host, engine: new BigramEngine() });
    expect(beforeAndAfter(RunDirectory.open(bare.directory))).toEqual([]);
    rmSync(join(bare.directory, "episodes.sqlite"));
    expect(await refused(bare.directory)).toMatchObject({ code: "EPISODE_NOT_FOUND" });
  });
});

describe("U5: a run directory that cannot be written", () => {
  test("episodes and the record of a run are read without a change of the directory", async () => {
    const copy = temporaryDirectory();
    cpSync(directory, copy, { recursive: true });
    const before = filesOf(copy);
    for (const path of [...before, "."]) chmodSync(join(copy, path), statSync(join(copy, path)).mode & ~0o222);
    expect(await keptEpisodes(copy, query({ order: "best" }))).toHaveLength(3);
    expect(readRun(copy)).toMatchObject({ status: "finished" });
    expect(filesOf(copy)).toEqual(before);
    chmodSync(copy, 0o755);
  });

  test("a run of an earlier build is reported, and is no run without episodes", async () => {
    const copy = temporaryDirectory();
    cpSync(directory, copy, { recursive: true });
    renameSync(join(copy, "episodes.sqlite"), join(copy, "trajectories.sqlite"));
    const refused = { code: "STORE_INVALID", message: expect.stringContaining("of an earlier build") };
    await expect(keptEpisodes(copy, query())).rejects.toMatchObject(refused);
    expect(() => beforeAndAfter(RunDirectory.open(copy))).toThrow(expect.objectContaining(refused));
    expect(readRun(copy)).toMatchObject({ status: "finished", unread: expect.stringContaining("of an earlier build") });
  });
});

test("U6: among episodes of the same reward, the best and the worst are of different tasks", async () => {
  const tasks = async (path: string, order: EpisodeQuery["order"], task: string) =>
    (await keptEpisodes(path, query({ order, task, limit: 4 }))).map(({ row }) => row);
  const [run, rows] = [
    await tasks(directory, "worst", "train"),
    (await keptEpisodes(directory, query({ task: "train", limit: 10_000 }))).map(({ row }) => row),
  ];
  const lowest = rows.filter(({ reward }) => reward === Math.min(...rows.map((row) => row.reward as number)));
  const distinct = Math.min(4, new Set(lowest.map(({ task }) => task)).size);
  expect(distinct).toBeGreaterThan(1);
  expect(new Set(run.map(({ task }) => task)).size).toBe(distinct);
  const file = join(temporaryDirectory(), "episodes.jsonl");
  writeFileSync(file, lowest.map((row) => `${JSON.stringify(row)}\n`).join(""));
  expect(new Set((await tasks(file, "worst", "train")).map(({ task }) => task)).size).toBe(distinct);
});

test("U7: a path that does not exist is no run directory without a file", () => {
  const opened = (path: string): unknown => {
    try {
      return RunDirectory.open(path);
    } catch (error) {
      return error;
    }
  };
  expect(opened(`${directory}x`)).toMatchObject({
    code: "RUN_NOT_FOUND",
    message: expect.stringMatching(/does not exist\. Did you mean/),
  });
  expect(opened(join(directory, ".."))).toMatchObject({
    code: "RUN_NOT_FOUND",
    hint: expect.stringContaining(directory),
  });
  expect(opened(join(directory, "tokenizer"))).toMatchObject({
    code: "RUN_NOT_FOUND",
    message: expect.stringContaining("it has no config.yaml"),
  });
});

test("U12: a damaged record of a run, and a file without episodes, are named", async () => {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  writeFileSync(join(copy, "run.json"), "{bad");
  expect(() => readRun(copy)).toThrow(
    expect.objectContaining({ code: "DATA_INVALID", message: expect.stringContaining("run.json cannot be read") }),
  );
  const file = join(temporaryDirectory(), "none.jsonl");
  writeFileSync(file, "");
  await expect(keptEpisodes(file, query())).rejects.toMatchObject({
    code: "EPISODE_NOT_FOUND",
    hint: expect.stringContaining("--filter-reward"),
  });
});

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true }).map(String).sort();
}

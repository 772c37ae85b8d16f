import { afterAll, expect, test } from "@jest/globals";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { BigramEngine, duelEnvironment } from "@mrlm/testing";
import { LocalHost, parseConfig, PluginHost, prepareRun, RunDirectory, trainRun } from "@mrlm/runtime";
import { openCheckpoint } from "../src/run/checkpoints.ts";
import type { TrackedRow, TrackedRun, TrackerDefinition } from "@mrlm/spec";
import { z } from "zod";
import { reinforce } from "./support/reinforce.ts";
import { CONFIG, letters, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const rows: TrackedRow[] = [];
const runs: TrackedRun[] = [];
const ends: string[] = [];
const good: TrackerDefinition<{ color: string }> = {
  name: "good",
  description: "Stores the rows that it receives.",
  options: z.strictObject({ color: z.string().default("blue") }),
  start: async (run) => (
    runs.push(run),
    { log: async (row) => void rows.push(row), close: async (status) => void ends.push(status) }
  ),
};
const bad: TrackerDefinition<object> = {
  name: "bad",
  description: "Fails.",
  options: z.strictObject({}),
  start: async () => ({ log: async () => Promise.reject(new Error("the disk is full")), close: async () => undefined }),
};
const source = PluginHost.of([
  definePlugin({
    name: "test",
    environments: [letters, duelEnvironment()],
    algorithms: [reinforce],
    trackers: [good, bad],
  }),
]);

async function prepare(trackers: readonly unknown[], changes: object = {}) {
  const host = new LocalHost({ source: await source });
  const loaded = parseConfig(JSON.stringify({ ...CONFIG, output: temporaryDirectory(), trackers, ...changes }), {
    path: "/tmp/run.yaml",
  });
  return { host, prepared: await prepareRun(loaded, { host, algorithms: await source }) };
}

test("trackers receive every iteration and evaluation in order; one that fails is reported once and the run continues", async () => {
  const notices: string[] = [];
  const { host, prepared } = await prepare(["bad", { name: "good", options: { color: "red" } }]);
  const { status } = await trainRun({
    prepared,
    host,
    engine: new BigramEngine(),
    onEvent: (event) => event.kind === "notice" && notices.push(event.text),
  });
  expect([status, ends, runs[0]?.resumedAt, runs[0]?.name]).toEqual(["finished", ["finished"], undefined, "test"]);
  expect(notices.filter((text) => text.includes("Tracker bad failed"))).toEqual([
    expect.stringContaining("the disk is full"),
  ]);
  expect(rows.map(({ kind, step }) => `${kind} ${step}`)).toEqual([
    "evaluation 0",
    "iteration 1",
    "iteration 2",
    "evaluation 2",
    "iteration 3",
    "evaluation 3",
    "iteration 4",
    "iteration 5",
    "evaluation 5",
    "iteration 6",
    "iteration 7",
    "evaluation 7",
  ]);
  expect(Object.keys(rows[1]?.metrics ?? {})).toEqual(expect.arrayContaining(["reward/mean", "seconds/total"]));
  expect(rows[0]?.metrics).toMatchObject({ "eval/letters@1/greedy_accuracy": expect.any(Number) });
});

test("a resumed run logs each step once, unless trackers are instructed to discard it, and omits none", async () => {
  const before = rows.length;
  const drain = new AbortController();
  const { host, prepared } = await prepare(["good"]);
  const begun = await trainRun({
    prepared,
    host,
    engine: new BigramEngine(),
    drain: drain.signal,
    onEvent: (event) => event.kind === "iteration" && event.step === 5 && drain.abort(),
  });
  const checkpoint = await openCheckpoint(join(begun.directory, "checkpoints", "00000002-0"));
  await trainRun({ prepared, host, engine: new BigramEngine(), run: RunDirectory.open(begun.directory), checkpoint });
  expect(runs.slice(-2).map(({ resumedAt }) => resumedAt)).toEqual([undefined, 2]);
  const logged = rows.slice(before);
  const again = logged.findIndex(
    ({ kind, step }, i) => kind === "iteration" && step === 2 && logged.slice(0, i).some((row) => row.step === 5),
  );
  const valid = [...logged.slice(0, again).filter(({ step }) => step < 2), ...logged.slice(again)];
  expect(valid.map(({ kind, step }) => `${kind} ${step}`)).toEqual(
    rows.slice(0, before).map(({ kind, step }) => `${kind} ${step}`),
  );
  const withoutSeconds = ({ metrics, ...row }: TrackedRow) => ({
    ...row,
    metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("seconds/"))),
  });
  expect(valid.map(withoutSeconds)).toEqual(rows.slice(0, before).map(withoutSeconds));
});

test("a run that starts again instructs trackers to discard all rows", async () => {
  const { host, prepared } = await prepare(["good"]);
  const run = RunDirectory.create(prepared.config, prepared.sourceText);
  for (const resumedAt of [undefined, 0]) {
    await trainRun({ prepared, host, engine: new BigramEngine(), run });
    expect(runs.at(-1)?.resumedAt).toBe(resumedAt);
  }
});

test("a missing tracker and unknown options are reported before the run", async () => {
  await expect(prepare(["god"])).rejects.toMatchObject({
    code: "PLUGIN_NOT_FOUND",
    message: expect.stringContaining('Did you mean "good"?'),
  });
  await expect(prepare([{ name: "good", options: { colour: "red" } }])).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("colour"),
  });
});

test("trackers receive the share of games that each role won, by kind of the opponent", async () => {
  rows.length = 0;
  const changes = {
    environments: [{ id: "duel", players: { second: { scripted: "random" } }, sides: "shuffle" }],
    stages: [{ algorithm: "reinforce", steps: 1 }],
    eval: { tasks: 8, samples: 0 },
  };
  const { host, prepared } = await prepare(["good"], changes);
  await trainRun({ prepared, host, engine: new BigramEngine() });
  const names = rows.flatMap(({ metrics }) => Object.keys(metrics)).filter((name) => name.includes("_wins/"));
  expect(new Set(names)).toEqual(
    new Set(["eval/duel@1/greedy_wins/first/scripted", "eval/duel@1/greedy_wins/second/scripted"]),
  );
});

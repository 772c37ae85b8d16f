import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { EpisodeStore, PlayedRecord, TakenBatch } from "@mrlm/spec/host";
import { openEpisodeStore } from "../src/index.ts";
import { runQuery } from "../src/run-query.ts";
import type { StoreSettings } from "../src/store-settings.ts";
import { cohort, playedGroups, record } from "./support/episodes.ts";

const LEARNER = "0/policy";
let folder: string;
let store: EpisodeStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
  store = await open();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function open(settings: Partial<StoreSettings> = {}): Promise<EpisodeStore> {
  return openEpisodeStore({
    path: join(folder, "a.sqlite"),
    run: "run",
    purpose: "train",
    endsLeases: true,
    ...settings,
  });
}

/** Ends the process that writes, and starts the one that resumes at a step of the run. */
async function resume(resumedAt: number): Promise<void> {
  await store.close();
  store = await open({ resumedAt });
}

async function play(step: number, salt = step): Promise<void> {
  await store.open(cohort(LEARNER, step));
  const [lease] = await store.lease("worker", 1, 60_000);
  if (lease === undefined) throw new Error("nothing to lease");
  await store.commit(lease, playedGroups(lease.cohort, salt), { isLast: true });
}

function take(step: number, checksum = `sum-${step}`): Promise<TakenBatch | "unready" | "outdated"> {
  return store.take(LEARNER, { step, refill: 0 }, 2, { from: "cohorts", checksum }, record(step));
}

function evaluation(runStep: number): PlayedRecord {
  const groups = playedGroups(cohort("eval", runStep, 0, { groups: 1 }), 1);
  const place = { place: 0, environment: "game@1", versions: {}, checksum: null };
  return { purpose: "eval", stage: "evaluation/greedy", runStep, ...place, groups };
}

function rows(sql: string): unknown[] {
  const found: unknown[] = [];
  runQuery({ path: join(folder, "a.sqlite"), sql, rows: 100 }, (line) => "row" in line && found.push(line.row));
  return found;
}

test("a live take returns the objects that were committed; a part of them from another process is read", async () => {
  const parts = [0, 1].map((part) => cohort(LEARNER, 1, 0, { part, groups: 1 }));
  for (const each of parts) await store.open(each);
  const [first] = await store.lease("worker", 1, 60_000);
  if (first === undefined) throw new Error("nothing to lease");
  await store.commit(first, playedGroups(first.cohort, 1), { isLast: true });
  await resume(0);
  for (const each of parts) await store.open(each);
  const [second] = await store.lease("worker", 9, 60_000);
  if (second === undefined) throw new Error("nothing to lease");
  const groups = playedGroups(second.cohort, 2);
  // Members in two calls, the later ones first.
  const half = (from: number, to: number): typeof groups =>
    groups.map((group) => ({ ...group, trajectories: group.trajectories.slice(from, to) }));
  await store.commit(second, half(1, 2), { isLast: false });
  await store.commit(second, half(0, 1), { isLast: true });
  const batch = await take(1);
  if (typeof batch === "string") throw new Error(batch);
  expect(batch.groups).toEqual([...playedGroups(first.cohort, 1), ...groups]);
  expect(batch.groups[1]?.trajectories[0]).toBe(groups[0]?.trajectories[0]);
});

test("a resume marks evaluations after its checkpoint as replayed and cuts the mirrored metrics, and deletes no episode", async () => {
  await store.record(evaluation(1));
  await store.record(evaluation(2));
  await store.mirror([
    { step: 1, metrics: { loss: 1 } },
    { step: 2, metrics: { loss: 2 } },
  ]);
  await resume(1);
  await store.record(evaluation(2));
  await store.mirror([{ step: 2, metrics: { loss: 3 } }]);
  expect(rows("select run_step, count(*) from v_episodes group by 1")).toEqual([
    [1, 2],
    [2, 2],
  ]);
  expect(rows("select run_step, state, count(*) from v_all_episodes group by 1, 2 order by 1, 2")).toEqual([
    [1, "recorded", 2],
    [2, "abandoned", 2],
    [2, "recorded", 2],
  ]);
  expect(rows("select step, value from v_metrics where name = 'loss'")).toEqual([
    [1, 1],
    [2, 3],
  ]);
});

test("tokens of earlier steps are deleted, their conversations and rewards stay, and an error names the step that misses them", async () => {
  for (const step of [1, 2, 3]) {
    await play(step);
    await take(step);
  }
  await store.record({ ...evaluation(1), purpose: "collect" });
  await store.prune(3);
  await store.prune(3);
  const kept =
    "select run_step, purpose, count(tokens) from segments join episodes on episodes.key = segments.episode join cohorts on cohorts.key = cohort group by 1, 2";
  expect(rows(kept)).toEqual([
    [1, "collect", 2],
    [1, "train", 0],
    [2, "train", 0],
    [3, "train", 4],
  ]);
  expect(rows("select run_step, count(reward) from v_episodes where purpose = 'train' group by 1")).toEqual([
    [1, 4],
    [2, 4],
    [3, 4],
  ]);
  expect(rows("select count(text) from v_turns where purpose = 'train'")).toEqual([[12]]);
  await resume(1);
  await expect(take(2)).rejects.toMatchObject({
    code: "DATA_INVALID",
    message: expect.stringMatching(/Batch 2 of learner 0\/policy \(step 2 of the run\).*tokens were deleted/),
  });
  expect(await take(3)).toMatchObject({ isReplayed: true, groups: playedGroups(cohort(LEARNER, 3), 3) });
});

test("a later take applies earlier batches, and the last one is applied when it is settled so", async () => {
  await play(1);
  await take(1);
  await store.settle(LEARNER, 1, { credits: [], isApplied: false });
  expect(rows("select step, state from v_steps")).toEqual([[1, "taken"]]);
  await play(2);
  await take(2);
  expect(rows("select step, state from v_steps")).toEqual([
    [1, "applied"],
    [2, "taken"],
  ]);
  await store.settle(LEARNER, 2, { credits: [], isApplied: true });
  expect(rows("select step, state from v_steps where state = 'applied'")).toEqual([
    [1, "applied"],
    [2, "applied"],
  ]);
});

test("a flush syncs the log also where a reader of an earlier state stops a checkpoint: a full commit adds a frame", async () => {
  await play(1);
  await store.flush();
  const reader = new DatabaseSync(join(folder, "a.sqlite"), { readOnly: true });
  const other = new DatabaseSync(join(folder, "a.sqlite"));
  const frames = (): unknown => other.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.["log"];
  try {
    reader.exec("BEGIN");
    reader.prepare("SELECT * FROM cohorts").all();
    await play(2);
    const before = frames();
    await store.flush();
    expect(frames()).toBeGreaterThan(before as number);
  } finally {
    reader.close();
    other.close();
  }
});

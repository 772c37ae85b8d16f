import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { EpisodeReader } from "../src/index.ts";
import { encodeGroups } from "../src/encoded-groups.ts";
import { StoreDatabase } from "../src/store-database.ts";
import { cohort, playedGroups, record } from "./support/episodes.ts";

let folder: string;
let run: StoreDatabase;
let now = 1_000_000;
const path = (): string => join(folder, "episodes.sqlite");

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-workers-"));
  run = new StoreDatabase({ path: path(), run: "run", purpose: "train", endsLeases: true }, () => now);
  // 60 batches; the weights of one age by one at each third step.
  for (let step = 1; step <= 60; step++) play(step, step % 3 === 0 ? 9 : 8);
  // The last batch is played anew, a cohort waits, one is played, and one is committed.
  run.abandon("0/policy", 60);
  for (const step of [61, 62, 63]) run.open(cohort("0/policy", step));
  const [committed] = run.lease("worker one", 1, 5_000);
  run.commit(committed!, encodeGroups(playedGroups(committed!.cohort, 1)), true);
  now += 1_000;
  run.lease("worker two", 1, 5_000);
  run.join({ id: "b", kind: "rollouts", capabilities: { concurrency: 4 } });
  now += 1_000;
  run.join({ id: "a", kind: "engine", address: "127.0.0.1:1", capabilities: {} });
  run.join({ id: "b", kind: "rollouts", capabilities: { concurrency: 5 } });
});
afterAll(() => {
  run.close();
  rmSync(folder, { recursive: true });
});

function play(step: number, version: number): void {
  run.open(cohort("0/policy", step));
  const [lease] = run.lease("worker", 1, 1_000);
  run.commit(lease!, encodeGroups(playedGroups(lease!.cohort, step)), true);
  const rule = { from: "cohorts", checksum: `sum-${step}` } as const;
  run.take("0/policy", { step, refill: 0 }, 2, rule, { ...record(step), version });
}

function read() {
  const reader = new EpisodeReader({ path: path() });
  try {
    return reader.workers();
  } finally {
    reader.close();
  }
}

test("members, leases and buffers are those of the store", () => {
  const before = Date.now();
  const workers = read();
  // Its clock counts whole milliseconds too.
  expect(workers.now).toBeGreaterThanOrEqual(before - 1);
  expect(workers.now).toBeLessThanOrEqual(Date.now() + 1);
  expect(workers).toMatchObject({
    memberCount: 2,
    members: [
      { id: "b", kind: "rollouts", address: null, capabilities: '{"concurrency":5}' },
      { id: "a", kind: "engine", address: "127.0.0.1:1", capabilities: "{}" },
    ],
    leaseCount: 1,
    leases: [
      {
        ...{ cohort: "0/policy/62/0/0", worker: "worker two", stage: "stage", environment: "game@1" },
        ...{ attempt: 1, groups: 2, until: 1_006_000 },
      },
    ],
    buffers: [{ learner: "0/policy", ...run.buffer("0/policy") }],
  });
  expect(workers.buffers).toEqual([{ learner: "0/policy", open: 2, leased: 2, ready: 2 }]);
  expect(workers.members.map(({ startedAt, heartbeatAt }) => [startedAt, heartbeatAt])).toEqual([
    [1_001_000, 1_002_000],
    [1_002_000, 1_002_000],
  ]);
});

test("ages are those of the view, over the newest 50 batches that were not played anew", () => {
  const { batches, ages } = read().staleness;
  const database = new DatabaseSync(path(), { readOnly: true });
  const rows = database
    .prepare(
      `SELECT max_age AS age, SUM(parts) AS parts FROM v_staleness WHERE step > (SELECT MAX(step) FROM v_staleness) - 50
       GROUP BY 1 ORDER BY 1`,
    )
    .all();
  database.close();
  expect(batches).toBe(50);
  expect(ages.map(({ age, parts }) => ({ age, parts }))).toEqual(rows.map((row) => ({ ...row })));
  // Each batch has two groups of two episodes.
  expect(ages).toEqual([
    { learner: "0/policy", policy: "policy", age: 1, parts: 34 * 4 },
    { learner: "0/policy", policy: "policy", age: 2, parts: 16 * 4 },
  ]);
});

test("long and damaged rows are cut, and lists are bounded by their counts", () => {
  const database = new DatabaseSync(path());
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO members VALUES (?, ?, ?, ?, ?, ?)");
  const most = 9_223_372_036_854_775_807n;
  insert.run("x".repeat(100_000), "y".repeat(100_000), "z".repeat(100_000), `"${"c".repeat(100_000)}"`, -most, most);
  insert.run("", "", null, "{", most, -most);
  for (let i = 0; i < 600; i++) insert.run(`member ${String(i).padStart(3, "0")}`, "rollouts", null, "{}", i, i);
  database.exec("COMMIT");
  const workers = read();
  expect([workers.memberCount, workers.members.length]).toEqual([604, 500]);
  const [long] = workers.members;
  expect([long?.id.length, long?.kind.length, long?.address?.length, long?.capabilities.length]).toEqual([
    500, 500, 500, 4_000,
  ]);
  expect([long?.startedAt, long?.heartbeatAt]).toEqual([-Number(most), Number(most)]);
  database.exec("DELETE FROM members WHERE id LIKE 'member%'");
  expect(read().members.find(({ id }) => id === "")).toMatchObject({ capabilities: "{", startedAt: Number(most) });
  database.exec("DROP TABLE members");
  database.close();
  expect(read).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
});

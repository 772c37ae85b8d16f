// npm run test:faults -- async-kills audits the stores of runs that were killed.
import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { trainBigram } from "@mrlm/testing";
import { AHEAD } from "../replay/support/replays.ts";
import { auditStore } from "./support/audit-store.ts";

const [STEPS, GROUP_SIZE, LAG] = [8, 4, 2];
const { directory } = (await trainBigram(AHEAD["GRPO beside play"] as NonNullable<(typeof AHEAD)[string]>)).summary;
const FIRST = "(SELECT group_key FROM batches WHERE is_abandoned = 0 ORDER BY group_key LIMIT 1)";
const COHORT = `(SELECT cohort FROM groups WHERE key = ${FIRST})`;

/** Returns the audit after a change, which is undone. */
function auditAfter(change: string): ReturnType<typeof auditStore> {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"));
  try {
    database.exec("BEGIN; PRAGMA defer_foreign_keys = ON");
    database.exec(change);
    return auditStore(database, STEPS, GROUP_SIZE);
  } finally {
    database.exec("ROLLBACK");
    database.close();
  }
}

test("a run that was left alone has lost nothing", () => {
  expect(auditAfter("SELECT 1")).toEqual({ twice: [], lost: [], oldest: LAG, late: 0 });
});

test.each([
  ["a group of a batch is gone", `DELETE FROM batches WHERE group_key = ${FIRST}`, /lacks groups/],
  [
    "a played cohort was abandoned before the end",
    `UPDATE cohorts SET state = 'abandoned' WHERE key = ${COHORT}; DELETE FROM events WHERE kind = 'abandoned'`,
    /was committed and is not/,
  ],
  [
    "a waiting group was passed over",
    `UPDATE batches SET is_abandoned = 1 WHERE group_key = ${FIRST}`,
    /was passed over by batch/,
  ],
  ["a batch was not learnt from", "UPDATE steps SET state = 'taken' WHERE step = 3", /batch 3 is taken/],
  ["a batch is missing", "DELETE FROM steps WHERE step = 8", /7 of 8 batches/],
  ["an episode is gone", `DELETE FROM episodes WHERE group_key = ${FIRST} AND member = 0`, /has 3 episodes/],
  ["an episode failed", `UPDATE episodes SET error = '{}' WHERE group_key = ${FIRST} AND member = 0`, /failed/],
])("%s: it is found", (_, change, expected) => {
  expect(auditAfter(change).lost).toContainEqual(expect.stringMatching(expected));
});

test("a group in two batches is found", () => {
  const change = `INSERT INTO groups SELECT NULL, cohort, position + 100, id, task, players FROM groups WHERE key = ${FIRST};
    INSERT INTO batches SELECT (SELECT MAX(key) FROM groups), learner, step, refill, 99, 0, 0 FROM batches WHERE group_key = ${FIRST}`;
  expect(auditAfter(change).twice).toHaveLength(1);
});

test("R4: a token that is older than the bound is found", () => {
  const change = `UPDATE parts SET oldest_version = oldest_version - 5`;
  expect(auditAfter(change).oldest).toBeGreaterThan(LAG);
});

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { STORE_FILE } from "@mrlm/store";
import { serveUi } from "@mrlm/ui";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { rowsOf } from "./support/run-with-episodes.ts";
import { addMembers, aheadRun, editStore } from "./support/run-with-workers.ts";

interface Workers {
  readonly now: number;
  readonly members: readonly { readonly id: string; readonly state: string; readonly capabilities: unknown }[];
  readonly memberCount: number;
  readonly leases: readonly { readonly cohort: string; readonly worker: string; readonly isExpired: boolean }[];
  readonly buffers: readonly { readonly learner: string; readonly open: number; readonly leased: number }[];
  readonly staleness: { readonly batches: number; readonly ages: readonly { age: number; parts: number }[] };
  readonly waits: readonly { readonly name: string; readonly steps: number[]; readonly values: number[] }[];
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

const folder = temporaryDirectory();
let server: Awaited<ReturnType<typeof serveUi>>;
let directory: string;

beforeAll(async () => {
  directory = await aheadRun(folder, "ahead");
  server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
});
afterAll(() => server?.close());

async function workers(): Promise<Workers> {
  const path = `/api/runs/${encodeURIComponent(directory.split("/").at(-1) as string)}/workers`;
  return (await (await fetch(`http://127.0.0.1:${server.port}${path}`)).json()) as Workers;
}

test("a run that has ended has no member, and the ages and waits that its store and its metrics have", async () => {
  const { members, memberCount, leases, staleness, waits } = await workers();
  expect([members, memberCount, leases]).toEqual([[], 0, []]);
  const ages = rowsOf(directory, "SELECT max_age, SUM(parts) FROM v_staleness GROUP BY 1 ORDER BY 1");
  expect(staleness.ages.map(({ age, parts }) => [age, parts])).toEqual(ages);
  expect([staleness.batches, ages.length]).toEqual([6, 3]);
  for (const name of ["wait/training", "wait/rollouts"]) {
    const rows = rowsOf(directory, "SELECT step, value FROM v_metrics WHERE name = ? ORDER BY step", name);
    const { steps = [], values = [] } = waits.find((each) => each.name === name) ?? {};
    expect([name, steps.map((step, i) => [step, values[i]])]).toEqual([name, rows]);
    expect(steps).toHaveLength(6);
  }
});

test("members live for 30 seconds after a heartbeat; a damaged row is shown beside the others", async () => {
  await addMembers(directory, [
    { id: "one", kind: "rollouts", capabilities: { concurrency: 4 } },
    { id: "two", kind: "sampler", address: "127.0.0.1:7", capabilities: {} },
    { id: "three", kind: "engine", capabilities: {} },
  ]);
  const { now } = await workers();
  editStore(
    directory,
    `UPDATE members SET heartbeat_at = ${now - 31_000}, started_at = 0 WHERE id = 'two';
     UPDATE members SET capabilities = '{', started_at = 1, kind = 'other' WHERE id = 'three';
     UPDATE cohorts SET leased_until = ${now - 1} WHERE leased_by = 'two'`,
  );
  const found = await workers();
  expect(found.members).toMatchObject([
    { id: "two", kind: "sampler", state: "lost", address: "127.0.0.1:7", capabilities: {} },
    { id: "three", kind: "other", state: "alive", capabilities: null },
    { id: "one", kind: "rollouts", state: "alive", address: null, capabilities: { concurrency: 4 } },
  ]);
  expect(found.leases.map(({ cohort, worker, isExpired }) => [cohort, worker, isExpired])).toEqual([
    ["later 0", "one", false],
    ["later 1", "two", true],
    ["later 2", "three", false],
  ]);
  expect(found.buffers).toMatchObject([{ learner: "0/policy", open: 0, leased: 3 }]);
});

test("a store of the version before is refused with its schema, and a run without a store has no members", async () => {
  editStore(directory, "DROP TABLE members; UPDATE meta SET value = '2' WHERE key = 'schema'");
  const { error } = await workers();
  expect(error).toMatchObject({
    code: "STORE_INVALID",
    message: expect.stringContaining("has schema 2; this version of mrlm reads schema 3."),
    hint: "Use the version of mrlm that wrote it, or start a new run.",
  });
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(directory, STORE_FILE + suffix), { force: true });
  expect(await workers()).toMatchObject({ members: [], buffers: [], staleness: { batches: 0, ages: [] } });
});

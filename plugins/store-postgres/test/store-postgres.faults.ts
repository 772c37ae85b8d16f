import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { MrlmError } from "@mrlm/spec";
import type { EpisodeStore, Lease } from "@mrlm/spec/host";
import { Client } from "pg";
import { EpisodeReader, openEpisodeStore, openLocalStore, placeOfRun, queryStore, VIEWS } from "@mrlm/store";
import { storeContract } from "../../../core/store/test/contract/store-contract.ts";
import { cohort, playedGroups, record } from "../../../core/store/test/support/episodes.ts";
import { PostgresAnnouncement, PostgresDescription } from "../src/run.ts";
import { describeAnnouncements } from "./support/announcements.ts";
import { PLUGIN, PostgresPlace } from "./support/postgres-place.ts";
import { describeReaders } from "./support/readers.ts";
import { PASSWORD, PostgresServer } from "./support/postgres-server.ts";

const LEARNER = "0/policy";
const READS = expect.stringContaining("SELECT ON its views and tables");
const COHORTS = 600;
const BATCH = 4;
const WORKERS = [-60_000, 0, 60_000, 0, -60_000, 60_000];
const KILLS = 30;
const RESTARTS = 12;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.create();
  process.env["PGPASSWORD"] = PASSWORD;
});
afterAll(() => server.remove());

test("a wrong password, a missing database and a server that is gone: each has its code, and none names the password", async () => {
  const open = (path: string) =>
    openLocalStore({ path, ...PLUGIN, run: "a", purpose: "train", endsLeases: false, busyMs: 300 });
  const failed = async (path: string): Promise<MrlmError> =>
    await open(path).then(
      () => Promise.reject(),
      (error) => error,
    );
  const wrong = await failed(server.url.replace("mrlm@", "mrlm:guessed-password@"));
  expect(wrong).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("refuses the user") });
  const missing = await failed(server.url.replace("/postgres?", "/none?"));
  expect(missing).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("does not exist") });
  await server.stop("fast");
  const gone = await failed(server.url.replace("mrlm@", "mrlm:guessed-password@"));
  await server.start();
  expect(gone).toMatchObject({ code: "STORE_UNAVAILABLE", isRetryable: true });
  for (const { message, hint } of [wrong, missing, gone]) expect(message + hint).not.toMatch(/guessed|9d4c/);
});

storeContract("a server of Postgres", {
  place: async () => new PostgresPlace(server.url),
  interleavings: 20,
  groups: 50,
});

describeReaders("a server of Postgres", () => server.url);
describeAnnouncements("a server of Postgres", () => server.url);

test("a user who may read the views and the table meta queries them, and no tokens", async () => {
  const run = "for-readers";
  const store = await openLocalStore({ path: server.url, ...PLUGIN, run, purpose: "train", endsLeases: false });
  await store.close();
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const schema = "mrlm_for_readers";
  await client.query(`CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; GRANT USAGE ON SCHEMA ${schema} TO reader;
    GRANT SELECT ON ${["meta", ...VIEWS.map(({ name }) => name)].map((name) => `${schema}.${name}`).join(", ")} TO reader`);
  await client.end();
  const place = placeOfRun(server.url.replace("mrlm@", "reader@"), run);
  const limits = { rows: 1, seconds: 60, megabytes: 900 };
  for (const { name } of VIEWS)
    expect((await queryStore({ path: place, ...PLUGIN }, `select * from ${name}`, limits)).isCut).toBe(false);
  for (const refused of ["select * from training", "select pg_read_file('PG_VERSION')"])
    await expect(queryStore({ path: place, ...PLUGIN }, refused, limits)).rejects.toMatchObject({
      code: "QUERY_INVALID",
      message: expect.stringContaining("permission denied"),
      hint: expect.stringContaining("SELECT of its views"),
    });
  const reader = new EpisodeReader({ path: place, ...PLUGIN });
  expect(() => reader.workers()).toThrow(expect.objectContaining({ code: "STORE_FAILED", hint: READS }));
  reader.close();
});

test("the announcement of a run waits for a server that is away, and is withdrawn after another loss", async () => {
  const run = "away";
  const store = await openLocalStore({ path: server.url, ...PLUGIN, run, purpose: "train", endsLeases: true });
  await store.close();
  const place = placeOfRun(server.url, run);
  const [announcement, description] = [new PostgresAnnouncement(place), new PostgresDescription(place)];
  for (const change of [
    () => announcement.announce({ config: "", engines: { address: "10.0.0.1:5" } }),
    () => announcement.withdraw(true),
  ]) {
    await server.stop("fast");
    await expect(description.read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // A worker that starts meanwhile waits too. The first time there is no announcement yet.
    const read = description.read({ waitMs: 60_000 }).catch(({ code }: MrlmError) => code);
    const changed = change();
    await server.start();
    await changed;
    expect(["RUN_NOT_FOUND", expect.objectContaining({ config: "" })]).toContainEqual(await read);
  }
  await announcement.close();
  expect(await description.read()).toEqual({ config: "", hasEnded: true, isLocked: false });
  await description.close();
});

test("a query that takes too long is ended, in its process and on the server", async () => {
  const store = await openLocalStore({ path: server.url, ...PLUGIN, run: "long", purpose: "train", endsLeases: false });
  await store.close();
  const endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n";
  const limits = { rows: 1, seconds: 3, megabytes: 900 };
  const query = queryStore({ path: placeOfRun(server.url, "long"), ...PLUGIN }, endless, limits);
  await expect(query).rejects.toMatchObject({ code: "QUERY_LIMIT" });
  const running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'FETCH%'";
  const client = new Client({ connectionString: server.url });
  await client.connect();
  while ((await client.query(running)).rows.length > 0) await pause(100);
  await client.end();
}, 60_000);

test("clocks that differ by a minute: leases expire by the clock of the server", async () => {
  const settings = { path: server.url, ...PLUGIN, run: "clocks", purpose: "train", endsLeases: false } as const;
  const own = Date.now;
  const store = await openLocalStore(settings);
  try {
    await store.open(cohort(LEARNER, 1));
    Date.now = () => own() - 60_000;
    const [lease] = (await store.lease("slow", 1, 1_500)) as [Lease];
    Date.now = () => own() + 60_000;
    expect(await store.lease("fast", 1, 1_500)).toEqual([]);
    await pause(1_700);
    Date.now = () => own() - 60_000;
    expect(await store.lease("slower", 1, 1_500)).toMatchObject([{ attempt: 2 }]);
    expect(await store.commit(lease, playedGroups(lease.cohort, 1), { isLast: true })).toBe("late");
  } finally {
    Date.now = own;
    await store.close();
  }
}, 60_000);

test("restarts of the server, and kills of workers whose clocks differ by a minute: no group in two batches, none lost", async () => {
  const run = "faults";
  const store = await openEpisodeStore({ path: server.url, ...PLUGIN, run, purpose: "train", endsLeases: true });
  const counts = { kills: 0, inTransaction: 0, restarts: 0, late: 0 };
  const children = WORKERS.map((shift) => startWorker(run, shift));
  const end = new AbortController();
  const faults = [killSome(run, children, counts, end.signal), restartSome(counts, end.signal)];
  const taken = new Map<string, number>();
  try {
    const began = performance.now();
    let opened = 0;
    for (let step = 1; taken.size < COHORTS; step++) {
      for (; opened < Math.min(COHORTS, taken.size + 40); opened++)
        await store.open(cohort(LEARNER, 0, 0, { groups: 1, suffix: `/${opened}` }));
      const batch = await taken4(store, step);
      for (const { id, trajectories } of batch) {
        taken.set(id, (taken.get(id) ?? 0) + 1);
        expect(trajectories).toHaveLength(2);
      }
      // Faults come as long as there is work.
      if (taken.size === COHORTS - 80) await Promise.all(faults);
    }
    const seconds = (performance.now() - began) / 1000;
    const twice = [...taken.values()].filter((count) => count > 1).length;
    expect([taken.size, twice]).toEqual([COHORTS, 0]);
    expect(await store.buffer(LEARNER)).toEqual({ open: 0, leased: 0, ready: 0 });
    expect([counts.kills, counts.restarts]).toEqual([KILLS, RESTARTS]);
    console.log(
      `store-postgres: ${counts.kills} kills (${counts.inTransaction} in a transaction), ${counts.restarts} restarts of the server, ${COHORTS} groups in ${seconds.toFixed(0)} s, ${COHORTS - taken.size} lost, ${twice} in two batches`,
    );
  } finally {
    end.abort();
    for (const child of children) child.kill("SIGKILL");
    await Promise.allSettled(faults);
    await store.close();
  }
}, 900_000);

/** Takes the next batch, as soon as its groups are committed. */
async function taken4(store: EpisodeStore, step: number) {
  for (;;) {
    const rule = { from: "oldest", checksum: null } as const;
    const batch = await store.take(LEARNER, { step, refill: 0 }, BATCH, rule, record(step));
    if (typeof batch !== "string") return batch.groups;
    expect(batch).toBe("unready");
    await pause(20);
  }
}

function startWorker(run: string, shiftMs: number): ChildProcess {
  const program = fileURLToPath(new URL("support/postgres-worker.ts", import.meta.url));
  const flags = ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"];
  return spawn(process.execPath, [...flags, program, server.url, run, String(shiftMs)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: process.env,
  });
}

/** Kills workers that play, and starts others. */
async function killSome(
  run: string,
  children: ChildProcess[],
  counts: { kills: number; inTransaction: number },
  signal: AbortSignal,
): Promise<void> {
  for (let i = 0; counts.kills < KILLS && !signal.aborted; i++) {
    const at = i % children.length;
    const child = children[at] as ChildProcess;
    // It has started, and has just committed a cohort.
    await Promise.race([new Promise((resolve) => child.stdout?.once("data", resolve)), pause(20_000)]);
    await pause(Math.random() * 30);
    child.kill("SIGSTOP");
    if (await isInTransaction(child.pid as number)) counts.inTransaction++;
    child.kill("SIGKILL");
    counts.kills++;
    children[at] = startWorker(run, WORKERS[at] as number);
  }
}

async function restartSome(counts: { restarts: number }, signal: AbortSignal): Promise<void> {
  while (counts.restarts < RESTARTS && !signal.aborted) {
    await pause(1_000 + Math.random() * 2_000);
    await server.stop(counts.restarts % 2 === 0 ? "fast" : "crash");
    await pause(Math.random() * 1_000);
    await server.start();
    counts.restarts++;
  }
}

async function isInTransaction(pid: number): Promise<boolean> {
  const client = new Client({ connectionString: server.url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const sql = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND xact_start IS NOT NULL";
    return (await client.query(sql, [`mrlm ${pid}`])).rows.length > 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

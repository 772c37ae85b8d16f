import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openEpisodeStore } from "../src/index.ts";
import { cohort, playedGroups, record } from "./support/episodes.ts";

let folder: string;
let stores: EpisodeStore[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
  stores = [];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

async function open(name = "episodes.sqlite", run = "run"): Promise<EpisodeStore> {
  const store = await openEpisodeStore({ path: join(folder, name), run, purpose: "train", endsLeases: true });
  stores.push(store);
  return store;
}

async function playBatch(store: EpisodeStore, step: number): Promise<void> {
  await store.open(cohort("0/policy", step));
  const [lease] = await store.lease("worker", 1, 60_000);
  if (lease === undefined) throw new Error("nothing to lease");
  await store.commit(lease, playedGroups(lease.cohort, step), { isLast: true });
}

const rule = { from: "cohorts", checksum: "sum-1" } as const;

describe("a store in its thread", () => {
  test("records a batch, and reports its changes as they come", async () => {
    const store = await open();
    const stop = new AbortController();
    const kinds: string[] = [];
    const watched = (async () => {
      for await (const { kind } of store.watch(0, stop.signal)) {
        kinds.push(kind);
        if (kind === "taken") stop.abort();
      }
    })();
    await playBatch(store, 1);
    await store.take("0/policy", { step: 1, refill: 0 }, 2, rule, record(1));
    await watched;
    expect(kinds).toEqual(["opened", "leased", "committed", "taken"]);
  });
});

describe("a file that is no store of this run is refused, with its path and what to do", () => {
  const path = (): string => join(folder, "episodes.sqlite");
  const refusals: readonly [name: string, prepare: () => void, code: string, message: RegExp][] = [
    ["text", () => writeFileSync(path(), "episodes ".repeat(1000)), "STORE_INVALID", /is damaged/],
    [
      "another database",
      () => new DatabaseSync(path()).exec("CREATE TABLE t (a)"),
      "STORE_INVALID",
      /is not an episode store/,
    ],
    [
      "a newer schema",
      () => edit("UPDATE meta SET value = '999' WHERE key = 'schema'"),
      "STORE_INVALID",
      /has schema 999/,
    ],
    [
      "another run",
      () => edit("UPDATE meta SET value = 'elsewhere' WHERE key = 'run'"),
      "STORE_INVALID",
      /belongs to run elsewhere/,
    ],
    ["a truncated file", () => truncateSync(path(), 5_000), "STORE_INVALID", /is damaged/],
    ["half of a file", () => truncateSync(path(), statSync(path()).size / 2), "STORE_INVALID", /is damaged/],
  ];
  function edit(sql: string): void {
    const database = new DatabaseSync(path());
    database.exec(sql);
    database.close();
  }

  test.each(refusals)("%s", async (_name, prepare, code, message) => {
    const store = await open("whole.sqlite");
    await playBatch(store, 1);
    await store.close();
    copyFileSync(join(folder, "whole.sqlite"), path());
    if (prepare.toString().includes("new DatabaseSync")) rmSync(path());
    prepare();
    const opened = open();
    await expect(opened).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await expect(opened).rejects.toMatchObject({
      message: expect.stringContaining(path()),
      hint: expect.stringMatching(/\w{4}/),
    });
  });

  test("a directory that is missing", async () => {
    await expect(open("none/episodes.sqlite")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/cannot be opened/),
    });
  });

  test("another process that writes for long", async () => {
    const other = new DatabaseSync(path());
    other.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE t (a)");
    const opened = openEpisodeStore({ path: path(), run: "run", purpose: "train", endsLeases: true, busyMs: 50 });
    await expect(opened).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/stayed locked by another process/),
    });
    other.close();
  });
});

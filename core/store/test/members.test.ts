import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EpisodeStore } from "@mrlm/spec";
import { EpisodeReader, LoggedBatches, openEpisodeStore, queryStore, runOfStore } from "../src/index.ts";
import { StoreDatabase } from "../src/store-database.ts";

let folder: string;
let stores: EpisodeStore[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-members-"));
  stores = [];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

const path = (): string => join(folder, "episodes.sqlite");
const settings = () => ({ path: path(), run: "run", purpose: "train", endsLeases: false }) as const;

async function open(): Promise<EpisodeStore> {
  const store = await openEpisodeStore(settings());
  stores.push(store);
  return store;
}

describe("members of a run", () => {
  test("join, are seen by other processes, and leave", async () => {
    const [one, other] = [await open(), await open()];
    const capabilities = { mode: "async", list: [1, null, -0] };
    const training = { id: "a", kind: "training", capabilities } as const;
    const engine = { id: "engine", kind: "engine", address: "127.0.0.1:1", capabilities: {} } as const;
    await one.join(training);
    await other.join(engine);
    const members = await other.members();
    expect(members).toEqual([
      { ...training, startedAt: expect.any(Number), heartbeatAt: members[0]?.startedAt },
      { ...engine, startedAt: expect.any(Number), heartbeatAt: members[1]?.startedAt },
    ]);
    await one.leave("engine");
    await one.leave("engine");
    await one.leave("another");
    expect((await other.members()).map(({ id }) => id)).toEqual(["a"]);
  });

  test("renew their heartbeat, address and capabilities, and keep their start", () => {
    let now = 1_000;
    const store = new StoreDatabase(settings(), () => now);
    store.join({ id: "b", kind: "rollouts", capabilities: {} });
    now = 2_000;
    store.join({ id: "a", kind: "sampler", address: "one:1", capabilities: { inFlight: ["keep"] } });
    store.join({ id: "b", kind: "rollouts", address: "two:2", capabilities: { concurrency: 4 } });
    now = 3_000;
    store.join({ id: "a", kind: "sampler", capabilities: { inFlight: [] } });
    expect(store.members()).toEqual([
      {
        ...{ id: "b", kind: "rollouts", address: "two:2", capabilities: { concurrency: 4 } },
        ...{ startedAt: 1_000, heartbeatAt: 2_000 },
      },
      { id: "a", kind: "sampler", capabilities: { inFlight: [] }, startedAt: 2_000, heartbeatAt: 3_000 },
    ]);
    store.leave("b");
    now = 4_000;
    store.join({ id: "b", kind: "rollouts", capabilities: {} });
    expect(store.members().map(({ id, startedAt }) => [id, startedAt])).toEqual([
      ["a", 2_000],
      ["b", 4_000],
    ]);
    expect(store.events(0)).toEqual([]);
    store.close();
  });

  test("are not removed by a process that opens the store, and are any text", async () => {
    const ids = ["", "'; DROP TABLE members; --", "<script>", "\u0000\ud83d\ude00", "x".repeat(10_000)];
    const store = await open();
    for (const id of ids) await store.join({ id, kind: "rollouts", address: id, capabilities: { [id]: id } });
    const later = await openEpisodeStore({ ...settings(), endsLeases: true, resumedAt: 0 });
    stores.push(later);
    expect(new Set((await later.members()).map(({ id }) => id))).toEqual(new Set(ids));
    for (const id of ids) await later.leave(id);
    expect(await store.members()).toEqual([]);
  });
});

test("a store without the table, of the version before, is refused with its schema wherever it is opened", async () => {
  await (await openEpisodeStore(settings())).close();
  const database = new DatabaseSync(path());
  database.exec("DROP TABLE members; UPDATE meta SET value = '2' WHERE key = 'schema'");
  database.close();
  const refused = {
    code: "STORE_INVALID",
    message: `${path()} has schema 2; this version of mrlm reads schema 3.`,
    hint: "Use the version of mrlm that wrote it, or start a new run.",
  };
  await expect(openEpisodeStore(settings())).rejects.toMatchObject(refused);
  const limits = { rows: 9, seconds: 9, megabytes: 900 };
  await expect(queryStore(path(), "SELECT 1", limits)).rejects.toMatchObject(refused);
  for (const read of [
    () => new EpisodeReader(path()),
    () => new LoggedBatches(path(), "run"),
    () => runOfStore(path()),
  ])
    expect(read).toThrow(expect.objectContaining(refused));
});

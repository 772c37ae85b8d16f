import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { EpisodeReader, LoggedBatches, openEpisodeStore, queryStore, runOfStore } from "../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-members-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (): string => join(folder, "episodes.sqlite");
const settings = () => ({ path: path(), run: "run", purpose: "train", endsLeases: false }) as const;

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
  await expect(queryStore({ path: path() }, "SELECT 1", limits)).rejects.toMatchObject(refused);
  for (const read of [
    () => new EpisodeReader({ path: path() }),
    () => new LoggedBatches({ path: path() }, "run"),
    () => runOfStore(path()),
  ])
    expect(read).toThrow(expect.objectContaining(refused));
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { TrajectoryGroup } from "@mrlm/spec";
import { encodeGroups } from "../src/encoded-groups.ts";
import { EpisodeReader } from "../src/index.ts";

import { StoreDatabase } from "../src/store-database.ts";
import { PlayedGroups } from "../src/worker-store.ts";
import { cohort, playedGroups } from "./support/episodes.ts";

let folder: string;
let store: StoreDatabase;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-repeated-"));
  store = open();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const path = (): string => join(folder, "episodes.sqlite");
const open = (): StoreDatabase => new StoreDatabase({ path: path(), run: "run", purpose: "train", endsLeases: false });

function read<T>(work: (reader: EpisodeReader) => T): T {
  const reader = new EpisodeReader({ path: path() });
  try {
    return work(reader);
  } finally {
    reader.close();
  }
}

test("groups that are recorded again under their id are added once, also after an interruption", () => {
  const groups: TrajectoryGroup[] = playedGroups(cohort("evaluated", 1), 1);
  const about = { purpose: "eval", stage: "eval", runStep: 1, place: 0, environment: "game@1", versions: {} } as const;
  const record = (id: string | undefined, given = groups): void =>
    store.record({ ...about, checksum: null, ...(id === undefined ? {} : { id }) }, encodeGroups(given));
  const ids = (): string[] => read((reader) => [...reader.read({ purpose: "eval" })].map((each) => each.trajectory.id));
  const whole = groups.flatMap(({ trajectories }) => trajectories.map(({ id }) => id));
  record("a");
  record("a");
  expect(ids()).toEqual(whole);
  record(undefined);
  expect(ids()).toHaveLength(2 * whole.length);
  // An episode that cannot be written ends the call when the groups exist and their episodes do not.
  const [first, last] = groups as [TrajectoryGroup, TrajectoryGroup];
  const broken = { ...last, trajectories: [{ ...last.trajectories[0], environment: undefined as never }] } as never;
  expect(() => record("b", [first, broken])).toThrow("cannot be bound");
  record("b");
  expect(ids()).toHaveLength(3 * whole.length);
});

test("a row of metrics is added once", () => {
  const row = { step: 1, reward: -0, kind: "iteration" };
  store.mirror([row, { ...row, step: 2 }]);
  store.mirror([row, { ...row, reward: 0 }]);
  const database = new DatabaseSync(path(), { readOnly: true });
  expect(
    database
      .prepare("SELECT step FROM metrics ORDER BY step")
      .all()
      .map(({ step }) => step),
  ).toEqual([1, 1, 2]);
  database.close();
});

test("a group in memory is returned once, and only whole: a repeated commit may hold a part of it", () => {
  const opened = cohort("0/policy", 1);
  const [whole, other] = playedGroups(opened, 1) as [TrajectoryGroup, TrajectoryGroup];
  const played = new PlayedGroups();
  const part = { ...other, trajectories: other.trajectories.slice(1) };
  played.add({ cohort: opened, worker: "one", attempt: 1, until: 0 }, [whole, part]);
  const removed = [whole, whole, part].map(({ id }) => played.remove({ key: 1, id, cohort: opened.id }));
  expect(removed).toEqual([whole, undefined, undefined]);
});

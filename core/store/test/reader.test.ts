import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { EpisodeReader } from "../src/index.ts";
import { encodeGroups } from "../src/encoded-groups.ts";
import { StoreDatabase } from "../src/store-database.ts";
import { cohort, playedGroups, record } from "./support/episodes.ts";

let folder: string;
let path: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
  path = join(folder, "episodes.sqlite");
  const run = new StoreDatabase({ path, run: "run", purpose: "train", endsLeases: true });
  for (const step of [1, 2]) {
    run.open(cohort("0/policy", step));
    for (const lease of run.lease("worker", 1, 1000))
      run.commit(lease, encodeGroups(broken(playedGroups(lease.cohort, step))), true);
    const rule = { from: "cohorts", checksum: cohort("0/policy", step).checksum } as const;
    run.take("0/policy", { step, refill: 0 }, 2, rule, record(step));
  }
  for (const runStep of [0, 2]) run.record({ ...RECORD, runStep }, encodeGroups(evaluated(runStep)));
  run.prune(2);
  run.close();
  const later = new StoreDatabase({ path, run: "run", purpose: "eval", endsLeases: false });
  later.record({ ...RECORD, runStep: 5 }, encodeGroups(evaluated(5)));
  later.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

const RECORD = {
  purpose: "eval",
  stage: "evaluation/greedy",
  place: 0,
  environment: "game@1",
  versions: {},
  checksum: null,
} as const;

function evaluated(step: number): TrajectoryGroup[] {
  return playedGroups(cohort("eval", step, 0, { groups: 1 }), step).map((group) => ({
    ...group,
    trajectories: group.trajectories.map((each) => ({ ...each, task: "eval/7" })),
  }));
}

/** The first group's last episode failed, the second group's last one has no score. */
function broken(groups: readonly TrajectoryGroup[]): TrajectoryGroup[] {
  const changes: readonly ((episode: Trajectory) => Trajectory)[] = [
    (episode) => ({ ...episode, agents: {}, turns: [], error: { code: "SESSION_FAILED", message: "lost" } }),
    (episode) => {
      const total = { scored: false as const, code: "SCORER_FAILED", message: "no verdict" };
      return { ...episode, agents: { agent: { ...(episode.agents["agent"] as Trajectory["agents"][string]), total } } };
    },
  ];
  return groups.map((group, i) => ({
    ...group,
    trajectories: group.trajectories.map((each, member) => (member === 1 ? (changes[i]?.(each) ?? each) : each)),
  }));
}

test("episodes are found by order, task and split; tokens that were deleted are left out", () => {
  const reader = new EpisodeReader({ path });
  const ids = (query: Parameters<EpisodeReader["find"]>[0]): string[] =>
    reader.find(query).map(({ trajectory }) => trajectory.id);
  expect(ids({ order: "newest", limit: 2 })).toEqual(["eval/5/0/0/g0/1", "eval/5/0/0/g0/0"]);
  expect(ids({ order: "failed", limit: 9 })).toEqual(
    [2, 1].flatMap((step) => [`0/policy/${step}/0/0/g1/1`, `0/policy/${step}/0/0/g0/1`]),
  );
  expect(ids({ order: "best", limit: 3 })).toEqual(["eval/5/0/0/g0/1", "eval/2/0/0/g0/1", "eval/0/0/0/g0/1"]);
  expect(ids({ order: "worst", task: "train", limit: 2 })).toEqual(["0/policy/2/0/0/g1/0", "0/policy/2/0/0/g0/0"]);
  expect(ids({ order: "newest", task: "train/1", limit: 9 })).toHaveLength(4);
  expect(ids({ order: "newest", task: "t%", limit: 9 })).toEqual([]);
  const [newest] = reader.find({ order: "best", task: "train", limit: 1 });
  expect([newest?.purpose, newest?.step, newest?.stage]).toEqual(["train", 2, "stage"]);
  expect([...reader.read({ from: 2 })]).toHaveLength(4);
  expect(() => [...reader.read()]).toThrow(expect.objectContaining({ code: "DATA_INVALID" }));
  expect(reader.tasks().sort()).toEqual(["eval/7", "train/0", "train/1"]);
  // Failed and unscored members do not count; those that are left have the reward 0.
  expect(reader.taskRewards(9).map(({ task, groups, rewards }) => [task, groups, rewards])).toEqual([
    [
      "train/0",
      2,
      [
        [1, 0],
        [2, 0],
      ],
    ],
    [
      "train/1",
      2,
      [
        [1, 0],
        [2, 0],
      ],
    ],
  ]);
  expect(reader.taskRewards(1)).toHaveLength(1);
  expect(reader.failures()).toEqual([{ code: "SESSION_FAILED", message: "lost", episodes: 2 }]);
  expect(reader.unscored()).toEqual([{ code: "SCORER_FAILED", message: "no verdict", episodes: 2 }]);
  reader.close();
});

test("the run's own evaluations are apart from those of a later process", () => {
  const reader = new EpisodeReader({ path });
  expect(reader.evaluationSteps()).toEqual({ first: 0, last: 2 });
  expect(reader.evaluation(2, "evaluation/greedy")).toEqual(evaluated(2)[0]?.trajectories);
  expect(reader.evaluation(5, "evaluation/greedy")).toEqual([]);
  reader.close();
  expect(readdirSync(folder)).toEqual(["episodes.sqlite"]);
});

// Permissions do not stop a test that root runs. So the length of the name prevents SQLite from creating files in the folder.
test("a store is read where SQLite can make no file beside it, unless that would miss what is in its log", () => {
  const copy = join(folder, "s".repeat(253));
  copyFileSync(path, copy);
  expect(() => new DatabaseSync(copy).prepare("SELECT * FROM cohorts").get()).toThrow("unable to open");
  const reader = new EpisodeReader({ path: copy });
  expect(reader.tasks()).toHaveLength(3);
  reader.close();
  writeFileSync(copy, "no database, however long the text of the file may be");
  expect(() => new EpisodeReader({ path: copy })).toThrow(
    expect.objectContaining({ code: "STORE_INVALID", message: expect.stringContaining("file is not a database") }),
  );
  rmSync(copy);
});

test("a store without tables has no episodes", () => {
  const empty = join(folder, "empty.sqlite");
  writeFileSync(empty, "");
  const reader = new EpisodeReader({ path: empty });
  expect([reader.tasks(), reader.failures()]).toEqual([[], []]);
  reader.close();
});

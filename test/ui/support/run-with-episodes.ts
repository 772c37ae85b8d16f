import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { grpo } from "@mrlm/grpo";
import type { TrajectoryGroup } from "@mrlm/spec";
import { openLocalStore, STORE_FILE } from "@mrlm/store";
import { trainBigram } from "@mrlm/testing";

/** Trains a small run in a folder. Returns its directory. */
export async function smallRun(folder: string, name: string, steps: number): Promise<string> {
  const stages = [
    { name: "first", algorithm: "grpo", steps, prompts_per_step: 4, group_size: 4, learning_rate: 0.5 },
    { name: "second", algorithm: "grpo", steps: 2, prompts_per_step: 4, group_size: 4, learning_rate: 0.5 },
  ];
  const { summary } = await trainBigram({ algorithms: [grpo], stages, config: { name, output: folder } });
  return summary.directory;
}

/** Adds groups to the store of a run, as an evaluation would. */
export async function addGroups(run: string, stage: string, groups: readonly TrajectoryGroup[]): Promise<void> {
  const store = await openLocalStore({ path: join(run, STORE_FILE), purpose: "eval", endsLeases: false });
  await store.record({
    purpose: "eval",
    stage,
    runStep: 1,
    place: 0,
    environment: "letters@1",
    versions: {},
    checksum: null,
    groups,
  });
  await store.flush();
  await store.close();
}

/** Returns the rows of a query over the store of a run. */
export function rowsOf(run: string, query: string, ...values: (string | number)[]): unknown[][] {
  const database = new DatabaseSync(join(run, STORE_FILE), { readOnly: true });
  try {
    return database
      .prepare(query)
      .all(...values)
      .map((row) => Object.values(row));
  } finally {
    database.close();
  }
}

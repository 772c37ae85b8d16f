import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { grpo } from "@mrlm/grpo";
import type { Cohort, Member } from "@mrlm/spec/host";
import { openLocalStore, STORE_FILE } from "@mrlm/store";
import { trainBigram } from "@mrlm/testing";

/** Trains a run whose play runs ahead of learning. Returns its directory. */
export async function aheadRun(folder: string, name: string): Promise<string> {
  const stage = { algorithm: "grpo", prompts_per_step: 4, group_size: 4, learning_rate: 0.5, mismatch: "truncate" };
  const { summary } = await trainBigram({
    algorithms: [grpo],
    stages: [{ name: "first", ...stage, steps: 6 }],
    config: { name, output: folder, play: { mode: "pipelined", lag: 2 } },
  });
  return summary.directory;
}

const COHORT: Cohort = {
  id: "later",
  stage: "first",
  learner: "0/policy",
  step: 90,
  refill: 0,
  place: [0, 0],
  environment: "letters@1",
  runStep: 90,
  versions: { policy: 1 },
  checksum: null,
  groups: [{ id: "later/g0", task: "train/0", seed: 1, size: 2 }],
};

/** Adds members to the store of a run, each with a lease, as processes that live would. */
export async function addMembers(
  run: string,
  members: readonly Pick<Member, "id" | "kind" | "address" | "capabilities">[],
): Promise<void> {
  const store = await openLocalStore({ path: join(run, STORE_FILE), purpose: "train", endsLeases: false });
  for (const [i, member] of members.entries()) {
    await store.join(member);
    await store.open({
      ...COHORT,
      id: `${COHORT.id} ${i}`,
      groups: COHORT.groups.map((g) => ({ ...g, id: `${g.id}/${i}` })),
    });
    await store.lease(member.id, 1, 600_000);
  }
  await store.flush();
  await store.close();
}

/** Changes the store of a run. */
export function editStore(run: string, sql: string): void {
  const database = new DatabaseSync(join(run, STORE_FILE));
  database.exec(sql);
  database.close();
}

// Uses a store in the directory of its argument, and prints the results as one line of JSON. A process of its own, because its disk is.
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { queryStore } from "../../src/query.ts";
import { openEpisodeStore } from "../../src/worker-store.ts";
import { cohort, playedGroups, record } from "./episodes.ts";

const [folder, mode] = process.argv.slice(2) as [string, "full" | "read-only"];
const path = join(folder, "episodes.sqlite");
const settings = { path, run: "run", purpose: "train", endsLeases: true } as const;
const results: unknown[] = [];

if (mode === "read-only") {
  results.push(await attempt(() => openEpisodeStore(settings)));
  results.push(
    await attempt(async () => {
      const limits = { rows: 9, seconds: 9, megabytes: 900 };
      return (await queryStore({ path }, "select count(*) from v_episodes", limits)).rows;
    }),
  );
} else {
  const store = await openEpisodeStore(settings);
  const opened = cohort("0/policy", 1);
  await store.open(opened);
  const [lease] = await store.lease("worker", 1, 60_000);
  if (lease === undefined) throw new Error("nothing to lease");
  await store.commit(lease, playedGroups(opened, 1), { isLast: true });
  const take = async (): Promise<unknown> => {
    const batch = await store.take(
      "0/policy",
      { step: 1, refill: 0 },
      2,
      { from: "cohorts", checksum: "sum-1" },
      record(1),
    );
    return typeof batch === "string" ? batch : batch.groups.map(({ id }) => id);
  };
  const filler = join(folder, "filler");
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
  results.push(await attempt(take));
  results.push(await attempt(take));
  rmSync(filler);
  results.push(await attempt(take));
  await store.close();
}
results.push(existsSync(path));
console.log(JSON.stringify(results));

async function attempt(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

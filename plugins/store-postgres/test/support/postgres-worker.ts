// Plays cohorts of a store in Postgres until it is killed. Its clock differs by the milliseconds of its third argument.
import { setTimeout as pause } from "node:timers/promises";
import { openLocalStore } from "@mrlm/store";
import { playedGroups } from "../../../../core/store/test/support/episodes.ts";
import { PLUGIN } from "./postgres-place.ts";

const [path, run, shiftMs] = process.argv.slice(2) as [string, string, string];
const own = Date.now;
Date.now = () => own() + Number(shiftMs);
const worker = `worker ${process.pid}`;
const store = await openLocalStore({ path, ...PLUGIN, run, purpose: "train", endsLeases: false });
for (;;) {
  const leases = await store.lease(worker, 2, 2_000);
  for (const lease of leases) {
    const groups = playedGroups(lease.cohort, lease.attempt);
    const first = groups.map((group) => ({ ...group, trajectories: group.trajectories.slice(0, 1) }));
    await pause(Math.random() * 20);
    await store.commit(lease, first, { isLast: false });
    await store.renew([lease], 2_000);
    await store.commit(lease, groups, { isLast: true });
    process.stdout.write(".");
  }
  if (leases.length === 0) await pause(50);
}

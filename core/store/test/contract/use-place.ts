import { afterEach, beforeEach } from "@jest/globals";
import type { Cohort, EpisodeStore, Lease, TakenBatch } from "@mrlm/spec/host";
import { playedGroups, record } from "../support/episodes.ts";
import type { OpenedAs, StoreHarness, StorePlace } from "./store-place.ts";

export const LEARNER = "0/policy";

/** Makes a place for each test, and returns access to the present one. */
export function usePlace(harness: StoreHarness): {
  readonly open: (as?: OpenedAs) => Promise<EpisodeStore>;
  readonly place: () => StorePlace;
} {
  let place: StorePlace;
  beforeEach(async () => {
    place = await harness.place();
  });
  afterEach(() => place.dispose());
  return { open: (as) => place.open(as), place: () => place };
}

/** Opens a cohort and leases it: no other one may be open. */
export async function leased(store: EpisodeStore, cohort: Cohort, ttlMs = 60_000): Promise<Lease> {
  await store.open(cohort);
  const leases = await store.lease("worker", 1, ttlMs);
  if (leases[0]?.cohort.id !== cohort.id) throw new Error(`${cohort.id} was not leased`);
  return leases[0];
}

/** Opens, leases and commits a cohort. */
export async function play(store: EpisodeStore, cohort: Cohort, salt: number): Promise<void> {
  const lease = await leased(store, cohort);
  await store.commit(lease, playedGroups(lease.cohort, salt), { isLast: true });
}

/** Takes the two groups of a step. */
export function take(
  store: EpisodeStore,
  step: number,
  checksum = `sum-${step}`,
): Promise<TakenBatch | "unready" | "outdated"> {
  return store.take(LEARNER, { step, refill: 0 }, 2, { from: "cohorts", checksum }, record(step));
}

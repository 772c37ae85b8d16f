import { describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import type { Cohort, EpisodeStore, Lease } from "@mrlm/spec/host";
import { CohortWorker } from "../src/play/cohort-worker.ts";

const lease = { cohort: { id: 1, groups: [] } as unknown as Cohort } as unknown as Lease;
const { signal } = new AbortController();

/** Plays a cohort that ends when its play is stopped. */
function play(renew: EpisodeStore["renew"]) {
  const store = { renew } as unknown as EpisodeStore;
  const worker = new CohortWorker({
    store,
    name: "x",
    leaseMs: 3,
    async *play(_cohort, stop) {
      await new Promise((resolve) => stop.addEventListener("abort", resolve));
      yield* [];
      throw new MrlmError("CANCELLED", "The play was stopped.");
    },
  });
  return worker.play(lease, signal);
}

describe("a cohort whose lease cannot be renewed", () => {
  test("is late where another worker has the lease", async () => {
    await expect(play(async () => ["1"])).resolves.toMatchObject({ result: "late" });
  });

  test("is not late where the store does not answer: the play rejects with its error", async () => {
    const lost = new MrlmError("STORE_UNAVAILABLE", "The store does not answer.");
    await expect(play(() => Promise.reject(lost))).rejects.toBe(lost);
  });
});

test("a lease is renewed more than once before it ends, while its cohort is played", async () => {
  const leaseMs = 9_000;
  const played = Promise.withResolvers<void>();
  const renewed: number[] = [];
  let now = 0;
  const store = {
    renew: async () => {
      if (renewed.push(now) === 4) played.resolve();
      return [];
    },
    commit: async () => "accepted",
  } as unknown as EpisodeStore;
  const worker = new CohortWorker({
    store,
    name: "x",
    leaseMs,
    clock: { now: () => now, sleep: async (ms, ended) => (ended.throwIfAborted(), void (now += ms)) },
    async *play() {
      await played.promise;
      yield* [];
    },
  });
  await expect(worker.play(lease, signal)).resolves.toMatchObject({ result: "accepted" });
  expect(renewed.slice(0, 2).every((at) => at < leaseMs)).toBe(true);
});

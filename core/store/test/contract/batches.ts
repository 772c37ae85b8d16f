import { expect, test } from "@jest/globals";
import type { Cohort, EpisodeStore, Lease } from "@mrlm/spec/host";
import { cohort, playedGroups, record } from "../support/episodes.ts";
import type { StoreHarness } from "./store-place.ts";
import { LEARNER, leased, play, take, usePlace } from "./use-place.ts";

const ONLY = { step: 1, refill: 0 };

/** Tests take, refuse, settle, abandon, prune and weights. */
export function describeBatches(harness: StoreHarness): void {
  const { open, place } = usePlace(harness);

  test("a batch is the same again, token for token, for a process that starts later", async () => {
    const first = await open();
    expect(await take(first, 1)).toBe("unready");
    await play(first, cohort(LEARNER, 1), 1);
    const groups = playedGroups(cohort(LEARNER, 1), 1);
    expect(await take(first, 1)).toEqual({ groups, refused: [], isReplayed: false, record: record(1) });
    const refused = [`${LEARNER}/1/0/0/g1`];
    await first.refuse(LEARNER, ONLY, refused);
    await first.refuse(LEARNER, ONLY, refused);
    await expect(first.refuse(LEARNER, ONLY, ["other"])).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    await place().crash();
    const second = await open();
    const rule = { from: "cohorts", checksum: "sum-1" } as const;
    const again = await second.take(LEARNER, ONLY, 2, rule, record(9));
    expect(again).toEqual({ groups, refused, isReplayed: true, record: record(1) });
    await expect(second.take(LEARNER, ONLY, 1, rule, record(1))).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  });

  test("the last commit of a batch takes it, and the log has it for a process that starts later", async () => {
    const store = await open();
    const [first, second] = [0, 1].map((part) => cohort(LEARNER, 1, 0, { part, groups: 1 })) as [Cohort, Cohort];
    const rule = { from: "cohorts", checksum: "sum-1" } as const;
    const request: Parameters<EpisodeStore["take"]> = [LEARNER, ONLY, 2, rule, record(1)];
    await store.open(first);
    await store.open(second);
    const leases = await store.lease("worker", 2, 60_000);
    const commit = (i: number) =>
      store.commit(leases[i] as Lease, playedGroups(leases[i]?.cohort as Cohort, 1), { isLast: true, take: request });
    expect(await commit(0)).toBe("accepted");
    const groups = [first, second].flatMap((each) => playedGroups(each, 1));
    expect(await commit(1)).toEqual({ groups, refused: [], isReplayed: false, record: record(1) });
    await place().crash();
    const again = await open();
    expect(await again.take(...request)).toEqual({ groups, refused: [], isReplayed: true, record: record(1) });
  });

  test("members that were committed in several calls are in their order", async () => {
    const store = await open();
    const lease = await leased(store, cohort(LEARNER, 1));
    const groups = playedGroups(lease.cohort, 2);
    const half = (from: number, to: number): typeof groups =>
      groups.map((group) => ({ ...group, trajectories: group.trajectories.slice(from, to) }));
    await store.commit(lease, half(1, 2), { isLast: false });
    expect(await take(store, 1)).toBe("unready");
    await store.commit(lease, half(0, 1), { isLast: true });
    expect(await take(await open({ endsLeases: false }), 1)).toMatchObject({ groups });
  });

  test("the oldest groups of a learner are taken whatever their step, and no group twice", async () => {
    const store = await open();
    await play(store, cohort(LEARNER, 0), 1);
    await play(store, cohort(LEARNER, 0, 0, { suffix: "/next" }), 2);
    const rule = { from: "oldest", checksum: null } as const;
    const ids = async (step: number, count: number): Promise<unknown> => {
      const batch = await store.take(LEARNER, { step, refill: 0 }, count, rule, record(step), 0);
      return typeof batch === "string" ? batch : batch.groups.map(({ id }) => id);
    };
    expect(await ids(1, 3)).toEqual([`${LEARNER}/0/0/0/g0`, `${LEARNER}/0/0/0/g1`, `${LEARNER}/0/0/0/next/g0`]);
    expect(await ids(2, 2)).toBe("unready");
    expect(await ids(2, 1)).toEqual([`${LEARNER}/0/0/0/next/g1`]);
    expect(await store.buffer(LEARNER)).toEqual({ open: 0, leased: 0, ready: 0 });
    expect(await store.buffer("0/other")).toEqual({ open: 0, leased: 0, ready: 0 });
  });

  test("groups are taken by the part of their cohorts, also after they were opened again, and none before those of earlier parts", async () => {
    const store = await open();
    const at = (part: number) => cohort(LEARNER, 0, 0, { part });
    await play(store, at(2), 2);
    await store.open(at(1));
    const rule = { from: "opened", checksum: null } as const;
    const ids = async (taken: EpisodeStore, step: number, count: number): Promise<unknown> => {
      const batch = await taken.take(LEARNER, { step, refill: 0 }, count, rule, record(step), 0);
      return typeof batch === "string" ? batch : batch.groups.map(({ id }) => id);
    };
    expect(await ids(store, 1, 1)).toBe("unready");
    await place().crash();
    // Cohorts that the process had not played are abandoned.
    const again = await open();
    await play(again, at(1), 1);
    expect(await ids(again, 1, 3)).toEqual([`${LEARNER}/0/0/1/g0`, `${LEARNER}/0/0/1/g1`, `${LEARNER}/0/0/2/g0`]);
    expect(await ids(again, 2, 2)).toBe("unready");
    expect(await ids(again, 2, 1)).toEqual([`${LEARNER}/0/0/2/g1`]);
  });

  test("batches and cohorts of other weights are outdated; once abandoned, the step is played anew", async () => {
    const store = await open();
    await play(store, cohort(LEARNER, 1), 1);
    expect(await take(store, 1, "other")).toBe("outdated");
    await take(store, 1);
    expect(await take(store, 1, "other")).toBe("outdated");
    await store.abandon(LEARNER, 1);
    expect(await take(store, 1)).toBe("unready");
    await play(store, cohort(LEARNER, 1), 9);
    expect(await take(store, 1)).toMatchObject({ groups: playedGroups(cohort(LEARNER, 1), 9), isReplayed: false });
  });

  test("credits of a batch are replaced, and those of an episode that is not in it are refused", async () => {
    const store = await open();
    await expect(store.settle(LEARNER, 1, { credits: [], isApplied: true })).rejects.toMatchObject({
      code: "STORE_CONFLICT",
      message: expect.stringContaining("was never taken"),
    });
    await play(store, cohort(LEARNER, 1), 1);
    await take(store, 1);
    const credit = {
      ...{ trajectory: `${LEARNER}/1/0/0/g0/1`, agent: "agent" },
      ...{ advantage: Float32Array.of(0, 1, 1), logprobs: Float32Array.of(-1, -2, -3) },
    };
    await store.settle(LEARNER, 1, { credits: [credit], isApplied: false });
    await store.settle(LEARNER, 1, { credits: [{ ...credit, advantage: 0.5 }], isApplied: true });
    const wrong = store.settle(LEARNER, 1, { credits: [{ ...credit, trajectory: "other" }], isApplied: true });
    await expect(wrong).rejects.toMatchObject({
      code: "STORE_CONFLICT",
      message: expect.stringContaining("no episode other"),
    });
  });

  test("a batch whose tokens were deleted cannot be taken again, and the error names its step", async () => {
    const store = await open();
    for (const step of [1, 2, 3]) {
      await play(store, cohort(LEARNER, step), step);
      await take(store, step);
    }
    await store.prune(3);
    await store.prune(3);
    await expect(take(store, 2)).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(/Batch 2 of learner 0\/policy \(step 2 of the run\).*tokens were deleted/),
    });
    expect(await take(store, 3)).toMatchObject({ isReplayed: true, groups: playedGroups(cohort(LEARNER, 3), 3) });
  });

  test("the newest weights are those that were announced last", async () => {
    const [store, beside] = [await open(), await open({ endsLeases: false })];
    expect(await store.newest("policy")).toBeUndefined();
    const first = { policy: "policy", version: 4, step: 1, checksum: null, location: "host:1" };
    const second = { policy: "policy", version: 5, step: 2, checksum: "sum" };
    await store.announce(first);
    await store.announce({ ...first, policy: "other", version: 9 });
    await store.announce(second);
    expect(await beside.newest("policy")).toEqual(second);
    await store.announce(first);
    expect(await beside.newest("policy")).toEqual(first);
  });

  test("evaluations and metrics are added, and their calls may be repeated", async () => {
    const store = await open();
    const groups = playedGroups(cohort("e", 1), 2);
    const about = { purpose: "eval", stage: "eval", runStep: 1, place: 0, environment: "game@1" } as const;
    const played = { ...about, id: "once", versions: { policy: 1 }, checksum: "s", groups };
    for (let i = 0; i < 2; i++) {
      await store.record(played);
      await store.mirror([{ step: 1, reward: Number.NaN, lost: -0 }, {}]);
      await store.flush();
    }
    expect(await store.buffer("e")).toEqual({ open: 0, leased: 0, ready: 0 });
    expect(await store.lease("worker", 9, 1_000)).toEqual([]);
  });
}

import { describe, expect, test } from "@jest/globals";
import type { Lease, StoreEvent } from "@mrlm/spec/host";
import { cohort, playedGroups } from "../support/episodes.ts";
import type { StoreHarness } from "./store-place.ts";
import { LEARNER, leased, play, take, usePlace } from "./use-place.ts";

/** Tests open, lease, renew, commit and watch. */
export function describeLeases(harness: StoreHarness): void {
  const { open, place } = usePlace(harness);

  test("a cohort is opened once, and returned as it was opened", async () => {
    const store = await open();
    const opened = { ...cohort(LEARNER, 1), versions: { policy: 3, other: 2 ** 40 }, checksum: null };
    await store.open(opened);
    await store.open({ ...opened, versions: { other: 2 ** 40, policy: 3 } });
    await expect(store.open({ ...opened, runStep: 9 })).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    expect(await store.buffer(LEARNER)).toEqual({ open: 2, leased: 0, ready: 0 });
    const [lease, other] = await store.lease("worker", 5, 60_000);
    expect(lease).toMatchObject({ worker: "worker", attempt: 1, cohort: opened });
    expect(other).toBeUndefined();
    expect(await store.buffer(LEARNER)).toEqual({ open: 0, leased: 2, ready: 0 });
  });

  test("cohorts are leased in the order of their opening, each to one of several processes", async () => {
    const [first, second] = [await open(), await open({ endsLeases: false })];
    for (let step = 1; step <= 6; step++) await first.open(cohort(LEARNER, step));
    const [one] = await first.lease("one", 1, 60_000);
    expect(one?.cohort.step).toBe(1);
    const both = await Promise.all([first.lease("one", 3, 60_000), second.lease("two", 3, 60_000)]);
    const steps = both.map((leases) => leases.map((lease) => lease.cohort.step));
    expect(steps.flat().toSorted()).toEqual([2, 3, 4, 5, 6]);
    for (const each of steps) expect(each).toEqual(each.toSorted());
    expect(await second.lease("two", 3, 60_000)).toEqual([]);
  });

  test("an expired lease is given to another worker, and the commit of the first one is late", async () => {
    const store = await open();
    const lost = await leased(store, cohort(LEARNER, 1), 1_000);
    expect(await store.commit(lost, playedGroups(lost.cohort, 1).slice(0, 1), { isLast: false })).toBe("accepted");
    place().advance(900);
    expect(await store.renew([lost, { ...lost, attempt: 2 }, { ...lost, worker: "other" }], 1_000)).toEqual([
      lost.cohort.id,
      lost.cohort.id,
    ]);
    place().advance(900);
    expect(await store.lease("next", 1, 1_000)).toEqual([]);
    place().advance(200);
    const [next] = (await store.lease("next", 1, 1_000)) as [Lease];
    expect(next).toMatchObject({ worker: "next", attempt: 2, cohort: lost.cohort });
    expect(await store.renew([lost], 1_000)).toEqual([lost.cohort.id]);
    expect(await store.commit(lost, playedGroups(lost.cohort, 1), { isLast: true })).toBe("late");
    // An expired lease counts as long as there is no later one, and nothing of the first attempt is left.
    place().advance(5_000);
    expect(await store.commit(next, playedGroups(next.cohort, 2), { isLast: true })).toBe("accepted");
    expect(await take(store, 1)).toMatchObject({ groups: playedGroups(next.cohort, 2) });
  });

  test("a repeated last commit is accepted and changes nothing, one of another attempt is late", async () => {
    const store = await open();
    const lease = await leased(store, cohort(LEARNER, 1));
    const groups = playedGroups(lease.cohort, 1);
    expect(await store.commit(lease, groups, { isLast: true })).toBe("accepted");
    // The copy of a lost connection may state other tokens.
    const reader = await open({ endsLeases: false });
    expect(await reader.commit(lease, playedGroups(lease.cohort, 9), { isLast: true })).toBe("accepted");
    expect(await reader.commit({ ...lease, attempt: 2 }, groups, { isLast: true })).toBe("late");
    expect(await take(reader, 1)).toMatchObject({ groups });
    await store.abandon(LEARNER, 1);
    expect(await store.commit(lease, groups, { isLast: true })).toBe("late");
  });

  test("commits of an incomplete group and of foreign episodes are refused, those of an unknown cohort are late", async () => {
    const store = await open();
    const unknown = { cohort: cohort(LEARNER, 7), worker: "worker", attempt: 1, until: Date.now() };
    expect(await store.commit(unknown, playedGroups(unknown.cohort, 1), { isLast: true })).toBe("late");
    expect(await store.renew([unknown], 1_000)).toEqual([unknown.cohort.id]);
    const lease = await leased(store, cohort(LEARNER, 1));
    const groups = playedGroups(lease.cohort, 1);
    const foreign = playedGroups(unknown.cohort, 1);
    for (const wrong of [groups.slice(0, 1), foreign])
      await expect(store.commit(lease, wrong, { isLast: true })).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    expect(await store.buffer(LEARNER)).toEqual({ open: 0, leased: 2, ready: 0 });
    expect(await store.commit(lease, groups, { isLast: true })).toBe("accepted");
  });

  test("operations run in the order of their calls", async () => {
    const store = await open();
    const lease = await leased(store, cohort(LEARNER, 1));
    const committed = store.commit(lease, playedGroups(lease.cohort, 1), { isLast: true });
    const counted = store.buffer(LEARNER);
    expect([await counted, await committed]).toEqual([{ open: 0, leased: 0, ready: 2 }, "accepted"]);
  });

  test("a process that ends leases abandons what nothing has played", async () => {
    const first = await open();
    await play(first, cohort(LEARNER, 1), 1);
    const lease = await leased(first, cohort(LEARNER, 2));
    await first.open(cohort(LEARNER, 3));
    const beside = await open({ endsLeases: false });
    expect(await beside.buffer(LEARNER)).toEqual({ open: 2, leased: 2, ready: 2 });
    const next = await open({ resumedAt: 0 });
    expect(await next.buffer(LEARNER)).toEqual({ open: 0, leased: 0, ready: 2 });
    expect(await beside.commit(lease, playedGroups(lease.cohort, 1), { isLast: true })).toBe("late");
    // The attempts of an id count on, so that the old lease commits nothing to the new cohort.
    expect((await leased(next, cohort(LEARNER, 2))).attempt).toBe(2);
  });

  describe("a watch", () => {
    test("reports the changes of all processes in their order, numbered by one", async () => {
      const [store, beside] = [await open(), await open({ endsLeases: false })];
      const stop = new AbortController();
      const seen: StoreEvent[] = [];
      const watched = (async () => {
        for await (const event of beside.watch(0, stop.signal)) {
          seen.push(event);
          if (event.kind === "abandoned") stop.abort();
        }
      })();
      await play(store, cohort(LEARNER, 1), 1);
      await take(store, 1);
      await take(store, 1);
      await store.refuse(LEARNER, { step: 1, refill: 0 }, [`${LEARNER}/1/0/0/g1`]);
      await store.announce({ policy: "policy", version: 1, step: 1, checksum: null });
      await store.abandon(LEARNER, 2);
      await watched;
      const first = `${LEARNER}/1/0/0`;
      expect(seen).toEqual(
        [
          ["opened", first, 1],
          ["leased", first, 1],
          ["committed", first, 1],
          ["taken", LEARNER, 1],
          ["replayed", LEARNER, 1],
          ["refused", LEARNER, 1],
          ["weights", "policy", 1],
          ["abandoned", LEARNER, 2],
        ].map(([kind, subject, step], i) => ({ number: i + 1, kind, subject, step })),
      );
      const later = new AbortController();
      for await (const { kind } of store.watch(6, later.signal)) {
        expect(kind).toBe("weights");
        later.abort();
      }
    });
  });
}

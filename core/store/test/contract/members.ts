import { expect, test } from "@jest/globals";
import type { StoreHarness } from "./store-place.ts";
import { usePlace } from "./use-place.ts";

/** Tests the members of a run. */
export function describeMembers(harness: StoreHarness): void {
  const { open, place } = usePlace(harness);

  test("members join, are seen by other processes, and leave", async () => {
    const [one, other] = [await open(), await open({ endsLeases: false })];
    const capabilities = { mode: "async", list: [1, null, -0] };
    const training = { id: "a", kind: "training", capabilities } as const;
    const engine = { id: "engine", kind: "engine", address: "127.0.0.1:1", capabilities: {} } as const;
    await one.join(training);
    await other.join(engine);
    const members = await other.members();
    expect(members).toEqual([
      { ...training, startedAt: expect.any(Number), heartbeatAt: members[0]?.startedAt },
      { ...engine, startedAt: expect.any(Number), heartbeatAt: members[1]?.startedAt },
    ]);
    await one.leave("engine");
    await one.leave("engine");
    await one.leave("another");
    expect((await other.members()).map(({ id }) => id)).toEqual(["a"]);
  });

  test("members renew their heartbeat, address and capabilities, and keep their start", async () => {
    const store = await open();
    await store.join({ id: "b", kind: "rollouts", capabilities: {} });
    place().advance(1_000);
    await store.join({ id: "a", kind: "sampler", address: "one:1", capabilities: { inFlight: ["keep"] } });
    await store.join({ id: "b", kind: "rollouts", address: "two:2", capabilities: { concurrency: 4 } });
    place().advance(1_000);
    await store.join({ id: "a", kind: "sampler", capabilities: { inFlight: [] } });
    const [first, second] = await store.members();
    expect(first).toMatchObject({ id: "b", kind: "rollouts", address: "two:2", capabilities: { concurrency: 4 } });
    expect(second).toEqual({
      ...{ id: "a", kind: "sampler", capabilities: { inFlight: [] } },
      ...{ startedAt: expect.any(Number), heartbeatAt: expect.any(Number) },
    });
    for (const each of [first, second])
      expect((each?.heartbeatAt as number) - (each?.startedAt as number)).toBeGreaterThanOrEqual(1_000);
    await store.leave("b");
    place().advance(1_000);
    await store.join({ id: "b", kind: "rollouts", capabilities: {} });
    expect((await store.members()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("members are not removed by a process that opens the store, and are any text", async () => {
    const ids = ["", "'; DROP TABLE members; --", "<script>", "\u0000\ud83d\ude00", "\u0001 0000", "x".repeat(10_000)];
    const store = await open({ endsLeases: false });
    for (const id of ids) await store.join({ id, kind: "rollouts", address: id, capabilities: { [id]: id } });
    const later = await open({ resumedAt: 0 });
    const found = await later.members();
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(ids));
    for (const { id, address, capabilities } of found) expect([address, capabilities]).toEqual([id, { [id]: id }]);
    for (const id of ids) await later.leave(id);
    expect(await store.members()).toEqual([]);
  });
}

// npm run test:faults -- store-server kills a store server beside a real run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { connectStore } from "@mrlm/client";
import { Tokens } from "@mrlm/kit/access";
import { serveStore } from "@mrlm/server";
import type { EpisodeStore, Lease, Segment, StoreEvent, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { EpisodeReader, openLocalStore } from "../src/index.ts";
import { cohort, playedGroups, record } from "./support/episodes.ts";
import { type Served, served } from "./support/served-store.ts";

const ONLY = { step: 1, refill: 0 };
const RULE = { from: "cohorts", checksum: "sum-1" } as const;
const SIZE = { groups: 2, size: 2 };

let folder: string;
let own: EpisodeStore;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-remote-"));
  own = await openLocalStore({
    path: join(folder, "episodes.sqlite"),
    run: "run",
    purpose: "train",
    endsLeases: false,
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await own.close();
  rmSync(folder, { recursive: true });
});

async function serve(options: Parameters<typeof served>[1] = {}): Promise<Served> {
  const found = await served(own, options);
  closing.push(() => found.server.close());
  return found;
}

async function remote(options: Parameters<typeof connectStore>[1] = {}) {
  const store = await (await serve()).connect(options);
  closing.push(() => store.close());
  return store;
}

/** Opens and leases a cohort. */
async function leased(store: EpisodeStore, step = 1): Promise<Lease> {
  await store.open(cohort("0/policy", step, 0, SIZE));
  const [lease] = await store.lease("worker", 1, 60_000);
  return lease as Lease;
}

/** A group with what an episode may have. */
function richGroup(group: TrajectoryGroup, tokens: number): TrajectoryGroup {
  const segment = (parent: number | null): Segment => ({
    tokens: Int32Array.from({ length: tokens }, (_, i) => i - 3),
    logprobs: Float32Array.from({ length: tokens }, (_, i) => -i / 7),
    mask: Uint8Array.from({ length: tokens }, (_, i) => Number(i % 3 > 0)),
    versions: Int32Array.from({ length: tokens }, (_, i) => (i % 3 > 0 ? i % 2 : -1)),
    parent,
  });
  const image = { type: "image", mediaType: "image/png", source: { data: Uint8Array.from([0, 255, 7]) } };
  const trajectories = group.trajectories.map((each): Trajectory => {
    const [turn] = each.turns;
    const { agent } = each.agents;
    if (turn === undefined || agent === undefined) throw new Error("an episode without a turn");
    return {
      ...each,
      seed: each.member === 0 ? null : 2 ** 40,
      turns: [{ ...turn, messages: [{ role: "user", parts: [image as never] }] }],
      agents: {
        agent: {
          ...agent,
          segments: [segment(null), segment(0)],
          total: { scored: true, value: -0, components: {} },
          shared: { rule: "mean", value: 0.5 } as never,
        },
        other: { ...agent, segments: [], end: { terminated: false, truncated: true, truncatedBy: "turns" } },
      },
      info: { $odd: [1, null] },
      ...(each.member === 1 ? { error: { code: "ENVIRONMENT_FAILED", message: "ö" } } : {}),
      seconds: { sampling: 0.1, environment: 0, players: 3 },
    };
  });
  return { ...group, trajectories };
}

test("episodes arrive as they were committed, also where they take several messages", async () => {
  const store = await remote();
  const lease = await leased(store);
  // An episode has 0.8 MB, and the messages of all four have 1 MiB at most.
  const groups = playedGroups(lease.cohort, 1).map((group) => richGroup(group, 20_000));
  expect(await store.commit(lease, groups, { isLast: true })).toBe("accepted");
  const batch = { groups, refused: [], isReplayed: false, record: record(1) };
  expect(isDeepStrictEqual(await store.take("0/policy", ONLY, 2, RULE, record(1)), batch)).toBe(true);
  expect(await own.take("0/policy", ONLY, 2, RULE, record(1))).toMatchObject({ isReplayed: true });
});

test("every operation has the result that it has in the store itself", async () => {
  const store = await remote();
  expect(await store.describe()).toEqual({ path: "runs/x", config: "name: x\n", hasEnded: false, isLocked: false });
  const opened = { ...cohort("0/policy", 1, 0, SIZE), versions: { policy: 3, other: 2 ** 40 }, checksum: null };
  await store.open(opened);
  await expect(store.open({ ...opened, runStep: 9 })).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  expect(await store.buffer("0/policy")).toEqual({ open: 2, leased: 0, ready: 0 });
  const [lease] = (await store.lease("worker", 5, 60_000)) as [Lease];
  expect(lease).toMatchObject({ worker: "worker", attempt: 1, cohort: opened });
  expect(await store.renew([lease, { ...lease, attempt: 2 }], 90_000)).toEqual([opened.id]);
  const played = playedGroups(opened, 1);
  expect(await store.commit(lease, played.slice(0, 1), { isLast: false })).toBe("accepted");
  const rule = { from: "oldest", checksum: null } as const;
  expect(await store.take("0/policy", ONLY, 2, rule, record(1))).toBe("unready");
  expect(await store.commit(lease, played, { isLast: true })).toBe("accepted");
  expect(await store.take("0/policy", ONLY, 2, rule, record(1), 0)).toMatchObject({ groups: played });
  expect(await store.take("0/policy", ONLY, 2, { ...rule, checksum: "x" }, record(1))).toBe("outdated");
  await store.refuse("0/policy", ONLY, [opened.groups[0]?.id as string]);
  const credits = ["0", "1"].map((member) => ({
    trajectory: `${opened.groups[1]?.id}/${member}`,
    agent: "agent",
    advantage: member === "0" ? 0.1 : Float32Array.of(1, 2, 3),
    ...(member === "0" ? {} : { logprobs: Float32Array.of(-1, -2, -3) }),
  }));
  await store.settle("0/policy", 1, { credits, isApplied: true });
  await store.announce({ policy: "policy", version: 4, step: 1, checksum: null, location: "host:1" });
  expect(await store.newest("policy")).toEqual(await own.newest("policy"));
  expect(await store.newest("none")).toBeUndefined();
  await store.mirror([{ step: 1, reward: Number.NaN }]);
  await store.flush();
  await store.join({ id: "a", kind: "rollouts", address: "b:1", capabilities: { x: [1] } });
  expect(await store.members()).toEqual(await own.members());
  await store.leave("a");
  expect(await store.members()).toEqual([]);
  const evaluated = playedGroups(cohort("e", 1), 2);
  const about = { purpose: "eval", stage: "eval", runStep: 1, place: 0, environment: "game@1" } as const;
  await store.record({ ...about, versions: { policy: 1 }, checksum: "s", groups: evaluated });
  const reader = new EpisodeReader(join(folder, "episodes.sqlite"));
  expect([...reader.read({ purpose: "eval" })].map(({ trajectory }) => trajectory.id)).toEqual(
    evaluated.flatMap(({ trajectories }) => trajectories.map(({ id }) => id)),
  );
  reader.close();
  await store.prune(100);
  await expect(own.take("0/policy", ONLY, 2, rule, record(1))).rejects.toMatchObject({ code: "DATA_INVALID" });
  await store.abandon("0/policy", 1);
  expect(await store.buffer("0/policy")).toEqual({ open: 0, leased: 0, ready: 0 });
});

test("operations run in the order of their calls", async () => {
  const store = await remote();
  const lease = await leased(store);
  const large = playedGroups(lease.cohort, 1).map((group) => richGroup(group, 20_000));
  const committed = store.commit(lease, large, { isLast: true });
  const counted = store.buffer("0/policy");
  expect([await counted, await committed]).toEqual([{ open: 0, leased: 0, ready: 2 }, "accepted"]);
});

test("a watch continues behind the last event after the loss of its server", async () => {
  const first = await serve();
  const store = await first.connect();
  closing.push(() => store.close());
  const stop = new AbortController();
  const seen: StoreEvent[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const watching = (async () => {
    for await (const event of store.watch(0, stop.signal)) if (seen.push(event) === 3) resolve();
  })();
  await leased(store);
  await first.server.close();
  await own.abandon("0/policy", 1);
  const again = await served(own, { address: first.address });
  closing.push(() => again.server.close());
  await enough;
  stop.abort();
  await watching;
  expect(seen.map(({ kind, number }) => [kind, number])).toEqual([
    ["opened", 1],
    ["leased", 2],
    ["abandoned", 3],
  ]);
});

describe("a store server refuses", () => {
  test.each([undefined, "wrong", ""])("the token %p", async (token) => {
    const { connect } = await serve({ tokens: Tokens.of("secret") });
    await expect(connect(token === undefined ? {} : { token })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    const allowed = await connect({ token: "secret" });
    await allowed.flush();
    await allowed.close();
  });

  test("commits and renewals of an unknown cohort", async () => {
    const store = await remote();
    const lease = { cohort: cohort("0/policy", 7), worker: "worker", attempt: 1, until: Date.now() };
    expect(await store.commit(lease, playedGroups(lease.cohort, 1), { isLast: true })).toBe("late");
    expect(await store.renew([lease], 1_000)).toEqual([lease.cohort.id]);
    await expect(store.settle("0/policy", 7, { credits: [], isApplied: true })).rejects.toMatchObject({
      code: "STORE_CONFLICT",
      message: expect.stringContaining("was never taken"),
    });
  });

  test("an episode that is larger than a message may be, and changes nothing", async () => {
    const { connect } = await serve({ maxMessageBytes: 1 << 18 });
    const store = await connect();
    closing.push(() => store.close());
    const lease = await leased(store);
    const groups = playedGroups(lease.cohort, 1).map((group) => richGroup(group, 20_000));
    await expect(store.commit(lease, groups, { isLast: true })).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("larger than max"),
    });
    expect(await store.commit(lease, playedGroups(lease.cohort, 1), { isLast: true })).toBe("accepted");
  });

  test("calls where there is no store yet, and serves them as soon as there is one", async () => {
    let isReady = false;
    const server = await serveStore({
      address: "127.0.0.1:0",
      source: {
        describe: () => ({ path: "x", config: "", hasEnded: false, isLocked: false }),
        store: async () => {
          if (!isReady) throw new Error("secret");
          return own;
        },
      },
    });
    closing.push(() => server.close());
    const store = await connectStore(`127.0.0.1:${server.port}`);
    closing.push(() => store.close());
    const refused = await store.flush().catch((error: Error) => error.message);
    expect(refused).not.toContain("secret");
    isReady = true;
    await store.flush();
  });
});

test("a server that does not answer: the code, and the end of waiting calls by their signal", async () => {
  const { server, connect, address } = await serve();
  const end = new AbortController();
  const store = await connect({ signal: end.signal });
  const short = await connect({ reconnectMs: 100 });
  await server.close();
  await expect(connectStore(address, { connectMs: 50 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(short.flush()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const waiting = store.flush();
  end.abort();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  await Promise.all([store.close(), short.close()]);
  await expect(store.flush()).rejects.toMatchObject({ code: "STORE_FAILED" });
});

// npm run test:faults -- async-kills kills the store server of a real run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { connectStore } from "@mrlm/client";
import { Tokens } from "@mrlm/kit/access";
import { serveStore } from "@mrlm/server";
import type { EpisodeStore, Lease, StoreEvent } from "@mrlm/spec/host";
import { EpisodeReader, openLocalStore } from "../src/index.ts";
import { cohort, largeGroup, playedGroups } from "./support/episodes.ts";
import { type Served, served } from "./support/served-store.ts";

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

test("a server describes the run of its store", async () => {
  const store = await remote();
  expect(await store.describe()).toEqual({ path: "runs/x", config: "name: x\n", hasEnded: false, isLocked: false });
});

test("the groups of an evaluation arrive as they were recorded", async () => {
  const store = await remote();
  const groups = playedGroups(cohort("e", 1), 2);
  const about = { purpose: "eval", stage: "eval", runStep: 1, place: 0, environment: "game@1" } as const;
  await store.record({ ...about, versions: { policy: 1 }, checksum: "s", groups });
  const reader = new EpisodeReader({ path: join(folder, "episodes.sqlite") });
  const expected = groups.flatMap(({ trajectories }) => trajectories);
  expect([...reader.read({ purpose: "eval" })].map(({ trajectory }) => trajectory)).toEqual(expected);
  reader.close();
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

  test("an episode that is larger than a message may be, and changes nothing", async () => {
    const { connect } = await serve({ maxMessageBytes: 1 << 18 });
    const store = await connect();
    closing.push(() => store.close());
    const lease = await leased(store);
    const groups = playedGroups(lease.cohort, 1).map((group) => largeGroup(group, 20_000));
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

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { STORE_SERVICE } from "@mrlm/wire";
import { serveStore } from "../src/index.ts";
import type { StoreServer } from "../src/store/serve-store.ts";
import { RawClient } from "./support/raw-client.ts";

let folder: string;
let store: EpisodeStore;
let server: StoreServer;
const clients: RawClient[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-calls-"));
  const path = join(folder, "episodes.sqlite");
  store = await openLocalStore({ path, run: "run", purpose: "train", endsLeases: false });
  const tokens = new Tokens(["alice", "bob"].map((name) => ({ name, token: `token-of-${name}` })));
  const describe = () => ({ path, config: "", hasEnded: false, isLocked: true });
  server = await serveStore({ address: "127.0.0.1:0", tokens, source: { store: async () => store, describe } });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

test("U7: numbered calls of two names at one address are not those of one client", async () => {
  const lease = (name: string, call: bigint) => {
    const client = new RawClient(server.port, undefined, { authorization: `Bearer token-of-${name}` });
    clients.push(client);
    return client.unary(STORE_SERVICE.lease, { call, worker: name, limit: 1, ttlMs: 60_000 });
  };
  await store.open({
    id: "learner/1/0/0",
    stage: "stage",
    learner: "learner",
    step: 1,
    refill: 0,
    place: [0, 0],
    environment: "game@1",
    runStep: 1,
    versions: { policy: 1 },
    checksum: "sum",
    groups: [{ id: "learner/1/0/0/g0", task: "train/0", seed: 0, size: 2 }],
  });
  expect((await lease("alice", 5n)).leases).toHaveLength(1);
  expect((await lease("bob", 5n)).leases).toEqual([]);
  expect((await lease("bob", 6n)).leases).toEqual([]);
  expect((await lease("alice", 5n)).leases).toHaveLength(1);
  await expect(lease("alice", 4n)).rejects.toMatchObject({ code: "CALL_OUT_OF_ORDER" });
});

import { afterAll, afterEach, describe, expect, jest, test } from "@jest/globals";
import { join } from "node:path";
import { silentLogger } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import { type EpisodeStore, type Member, MEMBER_LOST_MS } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { joinRun, thisProcess, trainRun } from "@mrlm/runtime";
import { environmentServers } from "../src/workers/member-sources.ts";
import type { MemberSource } from "../src/workers/membership.ts";
import { assertSamePackages, packageTexts } from "../src/workers/same-packages.ts";
import { workerReports } from "../src/workers/worker-reports.ts";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);
afterEach(async () => {
  jest.useRealTimers();
});

/** A table of members in memory whose clock the test sets. */
function table() {
  const state = { now: 0, members: new Map<string, Member>(), failure: undefined as Error | undefined, joins: 0 };
  const store: Pick<EpisodeStore, "join" | "leave" | "members"> = {
    async join(member) {
      if (state.failure !== undefined) throw state.failure;
      state.joins++;
      const startedAt = state.members.get(member.id)?.startedAt ?? state.now;
      state.members.set(member.id, { ...member, startedAt, heartbeatAt: state.now });
    },
    async leave(id) {
      state.members.delete(id);
    },
    members: async () => [...state.members.values()],
  };
  return { state, store, ids: () => [...state.members.keys()] };
}

const source =
  (...ids: string[]): MemberSource =>
  async () =>
    ids.map((id) => ({ id, kind: "rollouts", capabilities: {} }));

describe("members of a run", () => {
  test("beat at an interval until they leave, and what joins later is removed too", async () => {
    jest.useFakeTimers();
    const { state, store, ids } = table();
    const servers = ["s1"];
    const changing: MemberSource = async () => source(...servers)();
    const membership = await joinRun(store, [source("a"), changing], { logger: silentLogger, intervalMs: 100 });
    expect(ids()).toEqual(["a", "s1"]);
    servers.splice(0, 1, "s2");
    state.now = 7;
    await jest.advanceTimersByTimeAsync(100);
    expect([...state.members.values()].map(({ id, heartbeatAt }) => [id, heartbeatAt])).toEqual([
      ["a", 7],
      ["s1", 0],
      ["s2", 7],
    ]);
    await membership.leave();
    expect(ids()).toEqual([]);
    const { joins } = state;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(state.joins).toBe(joins);
  });

  test("a server that does not answer keeps the age of its heartbeat, and delays no other member and no end", async () => {
    jest.useFakeTimers();
    const { state, store, ids } = table();
    let answer: Promise<void> = Promise.resolve();
    let asked = 0;
    const slow: MemberSource = async () => {
      asked++;
      await answer;
      return source("slow")();
    };
    const membership = await joinRun(store, [source("a"), slow], { logger: silentLogger, intervalMs: 100 });
    answer = Promise.reject(new MrlmError("ENGINE_EXITED", "It ended."));
    answer.catch(() => undefined);
    state.now = 1;
    await jest.advanceTimersByTimeAsync(100);
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = promise;
    state.now = 2;
    await jest.advanceTimersByTimeAsync(1_000);
    expect([state.members.get("a")?.heartbeatAt, state.members.get("slow")?.heartbeatAt]).toEqual([2, 0]);
    // One question waits, not ten.
    expect(asked).toBe(3);
    await membership.leave();
    resolve();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ids()).toEqual([]);
  });

  test("an error of the store is logged once and ends nothing; the list is right when the store works again", async () => {
    jest.useFakeTimers();
    const { state, store, ids } = table();
    state.failure = new MrlmError("STORE_FAILED", "The disk is full.");
    const lines: string[] = [];
    const logger = { ...silentLogger, warn: (line: string) => void lines.push(line) };
    const membership = await joinRun(store, [source("a", "b")], { logger, replaces: true, intervalMs: 100 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(lines).toEqual(["The list of members of the run could not be written: The disk is full."]);
    state.failure = undefined;
    await jest.advanceTimersByTimeAsync(100);
    expect(ids()).toEqual(["a", "b"]);
    await membership.leave();
    expect(ids()).toEqual([]);
  });

  test("workers that join, are lost, come back and leave are reported, by the clock of the store", async () => {
    jest.useFakeTimers();
    const { state, store } = table();
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const logger = { ...silentLogger, info: log, warn: log };
    const worker = { id: "w", kind: "rollouts", capabilities: {} } as const;
    await store.join(worker);
    const trainer: MemberSource = async () => [{ id: "trainer", kind: "training", capabilities: {} }];
    const report = workerReports(store, "trainer", logger);
    const membership = await joinRun(store, [trainer], { logger, report, intervalMs: 100 });
    const after = async (milliseconds: number): Promise<readonly string[]> => {
      state.now += milliseconds;
      await jest.advanceTimersByTimeAsync(200);
      return lines.splice(0);
    };
    expect(await after(0)).toEqual(["rollout worker w has joined"]);
    expect(await after(MEMBER_LOST_MS)).toEqual([]);
    expect(await after(1)).toEqual(["rollout worker w has sent no heartbeat for 30 s"]);
    await store.join(worker);
    expect(await after(1)).toEqual(["rollout worker w sends heartbeats again"]);
    await store.leave("w");
    expect(await after(1)).toEqual(["rollout worker w has left"]);
    await membership.leave();
  });

  test("a worker whose environments come from other packages than the training process's is refused", async () => {
    const { store } = table();
    const math = { name: "@mrlm/environment-math", version: "1.0.0" };
    await assertSamePackages(store, { "math@2": math });
    const packages = { ...packageTexts({ "math@2": { ...math, behaviour: "a".repeat(64) } }) };
    await store.join({ id: "trainer", kind: "training", capabilities: { packages } });
    await assertSamePackages(store, { "math@2": { ...math, behaviour: "a".repeat(64) }, "mine@1": math });
    for (const [other, text] of [
      [
        { ...math, version: "1.0.1", behaviour: "a".repeat(64) },
        "@mrlm/environment-math 1.0.1, behaviour aaaaaaaaaaaa",
      ],
      [{ ...math, behaviour: "b".repeat(64) }, "@mrlm/environment-math 1.0.0, behaviour bbbbbbbbbbbb"],
    ] as const)
      await expect(assertSamePackages(store, { "math@2": other })).rejects.toMatchObject({
        code: "STORE_CONFLICT",
        message: `Environment math@2 comes from ${text} here, and from @mrlm/environment-math 1.0.0, behaviour aaaaaaaaaaaa in the training process.`,
      });
  });

  test("a training process removes its predecessor and lost members, by the clock of the store", async () => {
    const { state, store, ids } = table();
    const add = (id: string, kind: Member["kind"]): Promise<void> => store.join({ id, kind, capabilities: {} });
    state.now = 1_000;
    for (const kind of ["rollouts", "environments", "sampler"] as const) await add(`lost-${kind}`, kind);
    await add("trainer", "training");
    state.now += 1;
    for (const kind of ["training", "engine", "rollouts", "sampler", "store"] as const) await add(`old-${kind}`, kind);
    state.now += MEMBER_LOST_MS;
    const membership = await joinRun(store, [source("trainer")], { logger: silentLogger, replaces: true });
    expect(ids()).toEqual(["old-rollouts", "old-store", "trainer"]);
    // Its start is its own.
    expect(state.members.get("trainer")?.startedAt).toBe(state.now);
    await membership.leave();
    expect(ids()).toEqual(["old-rollouts", "old-store"]);
  });

  test("are this process, with its machine, number and address", async () => {
    const { store, state } = table();
    const membership = await joinRun(store, [thisProcess("s", "sampler", { updates: ["directory"] }, "10.0.0.1:7")], {
      logger: silentLogger,
    });
    expect(state.members.get("s")).toMatchObject({
      ...{ kind: "sampler", address: "10.0.0.1:7" },
      capabilities: { host: expect.any(String), pid: process.pid, updates: ["directory"] },
    });
    await membership.leave();
  });

  test("are the environment servers that are connected", async () => {
    const servers = [
      { address: "10.0.0.1:7", isConnected: true },
      { address: "10.0.0.2:7", isConnected: false },
    ];
    const { host } = await prepare(CONFIG);
    expect(await environmentServers(host, ["letters"])()).toEqual([]);
    const remote = Object.assign(Object.create(host) as typeof host, { servers: () => servers });
    expect(await environmentServers(remote, ["letters", "letters"])()).toEqual([
      {
        id: "environments@10.0.0.1:7",
        kind: "environments",
        address: "10.0.0.1:7",
        capabilities: { environments: ["letters"] },
      },
    ]);
  });
});

test("a run has its training process and its engine as members until it ends, and removes those of a run that was killed", async () => {
  const { prepared, host } = await prepare({ ...CONFIG, output: temporaryDirectory() });
  const engine = new BigramEngine();
  const seen: (readonly Member[])[] = [];
  let store: EpisodeStore | undefined;
  const reads: Promise<void>[] = [];
  const { directory } = await trainRun({
    prepared,
    host,
    engine,
    engines: [{ engine, address: "127.0.0.1:50051" }],
    openStore: async (settings) => {
      const before = await openLocalStore({ ...settings, endsLeases: false });
      await before.join({ id: "killed", kind: "training", capabilities: {} });
      await before.close();
      return (store = await openLocalStore(settings));
    },
    onEvent: ({ kind }) => {
      if (kind === "iteration")
        reads.push((store as EpisodeStore).members().then((members) => void seen.push(members)));
    },
  });
  await Promise.all(reads);
  expect(seen).toHaveLength(7);
  for (const members of seen)
    expect(members).toMatchObject(
      [
        { id: "trainer", kind: "training", capabilities: { pid: process.pid, mode: "sync", packages: {} } },
        { kind: "engine", address: "127.0.0.1:50051", capabilities: { deterministic: true, worldSize: 1 } },
      ].toSorted((one, other) => (one.kind === members[0]?.kind ? -1 : other.kind === members[0]?.kind ? 1 : 0)),
    );
  const after = await openLocalStore({ path: join(directory, "episodes.sqlite"), purpose: "train", endsLeases: false });
  expect(await after.members()).toEqual([]);
  await after.close();
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { type Action, type JsonObject, MrlmError, type SimulatedEnvironment } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import { HostPool } from "../src/environments/host-pool.ts";
import { type Resolve, ServerAddresses } from "../src/environments/server-addresses.ts";
import { type ConnectEnvironmentsOptions, connectEnvironments } from "../src/index.ts";
import { authority, serveCounting } from "./support/handshake-faults.ts";
import { countingPlugin } from "./support/counting-plugin.ts";

type ServeEnvironmentsOptions = Parameters<typeof serveEnvironments>[0];

const { signal } = new AbortController();
const action: Action = { agent: "agent", message: textMessage("assistant", ""), finishReason: "stop" };
const step = (session: SimulatedEnvironment) => session.step(action, { signal });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(
  options: Partial<ServeEnvironmentsOptions> = {},
  port = 0,
  host = "127.0.0.1",
): Promise<EnvironmentServer> {
  const server = await serveEnvironments({
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    ...options,
    address: `${host}:${port}`,
  });
  cleanups.push(() => server.close());
  return server;
}

const addressOf = ({ port }: { port: number }) => `127.0.0.1:${port}`;

async function connect(servers: readonly { port: number }[], options: ConnectEnvironmentsOptions = {}) {
  const remote = await connectEnvironments(servers.map(addressOf), options);
  cleanups.push(() => remote.close());
  return remote;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within 60 s: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function start(remote: EnvironmentHost, count: number): Promise<SimulatedEnvironment[]> {
  const sessions = await Promise.all(Array.from({ length: count }, () => remote.open({ id: "counting" })));
  await Promise.all(sessions.map((session) => session.reset({ signal })));
  return sessions;
}

/** Logger that keeps its lines. */
function record() {
  const lines: string[] = [];
  const keep = (message: string, fields: JsonObject = {}) =>
    void lines.push(`${message} ${String(fields["reason"] ?? "")}`);
  return { lines, info: keep, warn: keep };
}

describe("at the start", () => {
  test("one of several servers may be absent: it is reported, and gets sessions when it answers", async () => {
    const here = await serve();
    const { port } = await serve();
    await cleanups.pop()?.();
    const logger = record();
    const remote = await connect([here, { port }], { logger });
    // On a busy machine the other one may answer late, which is reported too.
    const about = logger.lines.filter((line) => line.includes(`:${port} `));
    expect(about).toEqual([expect.stringMatching(`${port} gives no answer.*ECONNREFUSED`)]);
    const servers = (isConnected: boolean) => [
      { address: addressOf(here), isConnected: true },
      { address: addressOf({ port }), isConnected },
    ];
    expect(remote.servers?.()).toEqual(servers(false));
    await start(remote, 2);
    const late = await serve({}, port);
    await until(() => logger.lines.some((line) => line.includes(`${port} answers`)));
    expect(remote.servers?.()).toEqual(servers(true));
    await start(remote, 2);
    expect([here.stats().sessions, late.stats().sessions]).toEqual([2, 2]);
  });

  test("all absent is SERVER_UNAVAILABLE and names each", async () => {
    await expect(connectEnvironments(["127.0.0.1:1", "[::1]:2"], { connectMs: 100 })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      isRetryable: false,
      message: expect.stringMatching(/127\.0\.0\.1:1: .*\[::1\]:2: /),
    });
    // With no time at all the name service has not answered yet.
    for (const connectMs of [0, 100])
      await expect(connectEnvironments("dns:nothing.invalid:1", { connectMs })).rejects.toMatchObject({
        code: "SERVER_UNAVAILABLE",
        message: expect.stringContaining("dns:nothing.invalid:1"),
      });
  });

  test("a certificate that cannot be used is CONFIG_INVALID", async () => {
    const tls = { ca: "none" } as never;
    await expect(connectEnvironments(["127.0.0.1:1", "127.0.0.1:2"], { tls })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });

  test("one with another token is UNAUTHENTICATED and named", async () => {
    const closed = await serve({ tokens: Tokens.of("other") });
    await expect(connectEnvironments([await serve(), closed].map(addressOf))).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining(addressOf(closed)),
    });
  });
});

describe("a server that refuses a session", () => {
  test("because it stops: the next session begins elsewhere, also one that was opened before, and live ones end in peace", async () => {
    const [stopping, other] = [await serve(), await serve()];
    const remote = await connect([stopping, other]);
    const live = await start(remote, 2);
    const opened = await Promise.all(Array.from({ length: 4 }, () => remote.open({ id: "counting" })));
    const stopped = stopping.close(60_000);
    await Promise.all(opened.map((session) => session.reset({ signal })));
    expect([stopping.stats().sessions, other.stats().sessions]).toEqual([1, 5]);
    for (const session of live) await step(session);
    // The next episode of a live session is a new one.
    for (const session of live) await session.reset({ signal });
    await stopped;
    expect(other.stats().sessions).toBe(6);
  });

  test("because it is full: the others are asked before the caller", async () => {
    const ofSize = (maxSessions: number) => serve({ maxSessions, maxSessionsPerClient: maxSessions, maxQueue: 0 });
    const full = [await ofSize(1), await ofSize(2)];
    const large = await ofSize(3);
    const remote = await connect([...full, large]);
    await start(remote, 6);
    const before = performance.now();
    await expect(start(remote, 1)).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      isRetryable: true,
      retryDelayMs: expect.any(Number),
      message: expect.stringContaining(addressOf(large)),
    });
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

test("servers that refuse all sessions, and can be reached, are asked once for each call", async () => {
  let opened = 0;
  const host: EnvironmentHost = Object.assign(new LocalHost({ source: await PluginHost.of([countingPlugin]) }), {
    open: async () => {
      opened++;
      throw new MrlmError("SERVER_UNAVAILABLE", "the host was closed", { isRetryable: false });
    },
  });
  const refusing = [await serve({ host }), await serve({ host })];
  await expect(start(await connect(refusing), 1)).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
  expect(opened).toBe(2);
  const other = await serve();
  await start(await connect([...refusing, other]), 3);
  expect(other.stats().sessions).toBe(3);
});

test("a server on which an environment fails does not attract the episodes", async () => {
  let opened = 0;
  const host: EnvironmentHost = Object.assign(new LocalHost({ source: await PluginHost.of([countingPlugin]) }), {
    open: async () => {
      opened++;
      throw new MrlmError("ENVIRONMENT_FAILED", "it was withdrawn", { isRetryable: false });
    },
  });
  const remote = await connect([await serve({ host }), await serve()]);
  const play = async (count: number) => {
    const sessions = await Promise.all(Array.from({ length: count }, () => remote.open({ id: "counting" })));
    const resets = await Promise.allSettled(sessions.map((session) => session.reset({ signal })));
    return resets.filter(({ status }) => status === "rejected").length;
  };
  let failed = 0;
  for (let i = 0; i < 20; i++) failed += await play(1);
  expect([failed, opened]).toEqual([3, 3]);
  expect(await play(20)).toBe(0);
  const now = performance.now.bind(performance);
  performance.now = () => now() + 31_000;
  cleanups.push(() => (performance.now = now));
  // One episode tries the server again.
  expect([await play(20), opened]).toEqual([1, 4]);
});

test("servers that offer an environment in different versions are reported once", async () => {
  const versioned = async (version: string) => {
    const host = new LocalHost({ source: await PluginHost.of([countingPlugin]) });
    const provide = <T extends object>(described: T) => ({ ...described, providedBy: { name: "counting", version } });
    const describeHere = host.describe.bind(host);
    return serve({ host: Object.assign(host, { describe: async (ref: never) => provide(await describeHere(ref)) }) });
  };
  const logger = record();
  const servers = [await versioned("1.0.0"), await versioned("1.1.0")];
  await start(await connect(servers, { logger }), 6);
  expect(logger.lines).toEqual([expect.stringMatching(/counting@1 in different versions: .*1\.1\.0.* at 127/)]);
});

describe("free places", () => {
  test("count the sessions of other clients: two clients fill servers of unequal size evenly", async () => {
    const servers = [await serve({ maxSessions: 8 }), await serve({ maxSessions: 16 })];
    const [one, two] = [await connect(servers), await connect(servers)];
    await start(one, 12);
    expect(servers.map((server) => server.stats().sessions)).toEqual([4, 8]);
    // The second client connected before any of these sessions began.
    await start(two, 12);
    expect(servers.map((server) => server.stats().sessions)).toEqual([8, 16]);
  });

  test("count the limits per client and per environment", async () => {
    const few = await serve({ maxSessionsPerClient: 2 });
    const other = await serve({ maxSessionsByEnvironment: { "counting@1": 3 } });
    const remote = await connect([few, other]);
    await start(remote, 5);
    expect([few.stats().sessions, other.stats().sessions]).toEqual([2, 3]);
  });
});

test("a server that is lost ends its sessions, is probed, and gets sessions again", async () => {
  const [lost, other] = [await serve(), await serve()];
  const remote = await connect([lost, other], { reconnectMs: 200 });
  const sessions = await start(remote, 4);
  const { port } = lost;
  await lost.close();
  const steps = await Promise.allSettled(sessions.map(step));
  const failed = steps.filter(({ status }) => status === "rejected");
  expect(failed).toHaveLength(2);
  for (const { reason } of failed as PromiseRejectedResult[])
    expect(reason).toMatchObject({ code: "SESSION_NOT_FOUND", message: expect.stringContaining(String(port)) });
  await Promise.all(sessions.map((session) => session.reset({ signal })));
  expect(other.stats().sessions).toBe(4);
  const back = await serve({}, port);
  await until(async () => (await start(remote, 1), back.stats().sessions > 0));
});

describe("a name", () => {
  const targets = (...list: string[]) => list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

  async function pool(target: string, resolve: Resolve, options: ConnectEnvironmentsOptions = {}): Promise<HostPool> {
    const remote = new HostPool(new ServerAddresses([target], resolve), options, 20);
    cleanups.push(() => remote.close());
    await remote.connect(5_000);
    return remote;
  }

  test("that resolves to other addresses later: a new server gets sessions, a removed one keeps its own until they end", async () => {
    // Addresses of the loopback interface stand for pods: all have the same port.
    const first = await serve();
    const second = await serve({}, first.port, "127.0.0.2");
    let pods = targets("127.0.0.1");
    const logger = record();
    const remote = await pool(`dns:pods.example:${first.port}`, async () => pods, { logger });
    const old = await start(remote, 2);
    pods = targets("127.0.0.1", "127.0.0.2");
    await until(async () => {
      const [session] = await start(remote, 1);
      await session?.close?.();
      return second.stats().opened > 0;
    });
    pods = targets("127.0.0.2");
    await until(() => logger.lines.some((line) => line.includes("127.0.0.1") && line.includes("removed")));
    await start(remote, 3);
    expect([first.stats().sessions, second.stats().sessions]).toEqual([2, 3]);
    for (const session of old) await step(session);
    expect(first.stats().streams).toBe(1);
    for (const session of old) await session.close?.();
    await until(() => first.stats().streams === 0);
    // A failure of the name service removes nothing.
    pods = undefined as unknown as typeof pods;
    await until(() => logger.lines.some((line) => line.includes("cannot be resolved")));
    await start(remote, 1);
    expect(second.stats().sessions).toBe(4);
  });

  test("with several addresses of one server counts it once", async () => {
    const server = await serve({}, 0, "[::]");
    const remote = await pool(`dns:pods.example:${server.port}`, async () => targets("::1", "127.0.0.1"));
    await until(() => remote.connected === 2);
    await start(remote, 4);
    expect(server.stats()).toMatchObject({ sessions: 4, streams: 1 });
  });

  test("is the name that the certificates of its servers have", async () => {
    const identity = authority.issue({ names: ["pods.example"] });
    const server = await serveCounting(identity);
    cleanups.push(() => server.close());
    const resolve = async () => targets("127.0.0.1");
    const remote = await pool(`dns:pods.example:${server.port}`, resolve, { tls: { ca: authority.cert } });
    await start(remote, 1);
    await expect(
      pool(`dns:other.example:${server.port}`, resolve, { tls: { ca: authority.cert } }),
    ).rejects.toMatchObject({ code: "TLS_FAILED" });
  });

  test("of this machine resolves by the system", async () => {
    const server = await serve();
    const remote = await connectEnvironments(`dns:localhost:${server.port}`);
    cleanups.push(() => remote.close());
    await start(remote, 1);
    expect(server.stats().sessions).toBe(1);
  });
});

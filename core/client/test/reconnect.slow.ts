import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Action, Observation, SimulatedEnvironment, StepResult } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import { type ConnectEnvironmentsOptions, connectEnvironments } from "../src/index.ts";
import { countingPlugin, counts } from "./support/counting-plugin.ts";
import { FIRST_CALLS, playDisturbed } from "./support/disturbed-play.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";
import { playHalfOpen } from "./support/half-open.ts";
import { ServerProcess } from "./support/server-process.ts";

type ServeEnvironmentsOptions = Parameters<typeof serveEnvironments>[0];

const never = new AbortController().signal;
const act = (text: string): Action => ({
  agent: "agent",
  message: textMessage("assistant", text),
  finishReason: "stop",
});
const shown = ({ messages }: Observation): unknown => (messages[0]?.parts[0] as { text?: string } | undefined)?.text;
const step = (session: SimulatedEnvironment, text = "", signal = never): Promise<StepResult> =>
  session.step(act(text), { signal });
const fails = (code: string) => expect.objectContaining({ code });
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});
beforeEach(() => void Object.assign(counts, { steps: 0, aborted: 0, closed: 0 }));

const TRANSPORTS = ["stream", "unary"] as const;

async function connect(port: number, options: ConnectEnvironmentsOptions = {}): Promise<EnvironmentHost> {
  const remote = await connectEnvironments(`127.0.0.1:${port}`, options);
  cleanups.push(() => remote.close());
  return remote;
}

async function startProcess(port = 0): Promise<ServerProcess> {
  const started = await ServerProcess.start(port);
  cleanups.push(() => started.kill());
  return started;
}

async function serveHere(options: Partial<ServeEnvironmentsOptions> = {}): Promise<EnvironmentServer> {
  const server = await serveEnvironments({
    ...options,
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    address: "127.0.0.1:0",
  });
  cleanups.push(() => server.close());
  return server;
}

describe("a server that is killed", () => {
  test("and started again: calls wait, a lost episode is reported, and a new one begins", async () => {
    const first = await startProcess();
    const running = await Promise.all(
      TRANSPORTS.map(async (transport) => {
        const remote = await connect(first.port, { transport });
        const [early, late] = [await remote.open({ id: "counting" }), await remote.open({ id: "counting" })];
        await early.reset({ signal: never });
        expect(shown((await step(early)).observation)).toBe("step 0");
        const underWay = step(early, "wait 600000");
        underWay.catch(() => undefined);
        return { early, late, underWay };
      }),
    );
    await first.kill();
    const openings = running.map(({ late }) => late.reset({ seed: 5, signal: never }));
    await startProcess(first.port);
    for (const [i, { early, underWay }] of running.entries()) {
      await expect(underWay).rejects.toEqual(fails("SESSION_NOT_FOUND"));
      await expect(step(early)).rejects.toEqual(fails("EPISODE_ENDED"));
      expect(shown((await openings[i]) as Observation)).toBe("seed 5");
      expect(shown(await early.reset({ seed: 6, signal: never }))).toBe("seed 6");
      expect(shown((await step(early)).observation)).toBe("step 0");
    }
  });

  test("and started again: calls without a session wait too", async () => {
    const first = await startProcess();
    const remote = await connect(first.port);
    expect(remote.servers?.()).toEqual([{ address: `127.0.0.1:${first.port}`, isConnected: true }]);
    await first.kill();
    const calls = [remote.list(), remote.describe({ id: "counting" }), remote.open({ id: "counting" })];
    const demonstrations = remote.demonstrate({ id: "counting" }, ["train/0"]);
    demonstrations.catch(() => undefined);
    await startProcess(first.port);
    expect(await Promise.all(calls)).toHaveLength(3);
    await expect(demonstrations).rejects.toEqual(fails("DEMONSTRATION_REFUSED"));
  });

  test("and stays away is SERVER_UNAVAILABLE", async () => {
    const server = await startProcess();
    const running = await Promise.all(
      TRANSPORTS.map(async (transport) => {
        const session = await (await connect(server.port, { transport, reconnectMs: 300 })).open({ id: "counting" });
        await session.reset({ signal: never });
        const underWay = step(session, "wait 600000");
        underWay.catch(() => undefined);
        return { session, underWay };
      }),
    );
    await server.kill();
    for (const { session, underWay } of running) {
      await expect(underWay).rejects.toMatchObject({
        code: "SERVER_UNAVAILABLE",
        isRetryable: false,
        message: expect.stringContaining(String(server.port)),
      });
      await expect(session.reset({ signal: never })).rejects.toMatchObject({
        code: "SERVER_UNAVAILABLE",
        isRetryable: false,
      });
      await session.close();
    }
  });
});

describe("a connection that breaks", () => {
  test("while no call waits leaves the next call its full time", async () => {
    const server = await serveHere();
    const proxy = await fragileProxy(server.port);
    const session = await (await connect(proxy.port, { reconnectMs: 300 })).open({ id: "counting" });
    await session.reset({ signal: never });
    proxy.close();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const began = performance.now();
    await expect(session.reset({ signal: never })).rejects.toEqual(fails("SERVER_UNAVAILABLE"));
    expect(performance.now() - began).toBeGreaterThan(250);
  });

  test("and is accepted again by a server that answers nothing: the wait ends with this reason", async () => {
    const server = await serveHere();
    const proxy = await fragileProxy(server.port);
    cleanups.push(() => proxy.close());
    const session = await (await connect(proxy.port, { reconnectMs: 500 })).open({ id: "counting" });
    await session.reset({ signal: never });
    proxy.silence();
    await expect(step(session)).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringContaining("answers nothing"),
      isRetryable: false,
    });
  });
});

test("U10: no timer is set in the past when a server stays away for longer than the client waits", async () => {
  const { setTimeout: original } = globalThis;
  const delays: number[] = [];
  const server = await serveHere();
  const remote = await connect(server.port, { reconnectMs: 20 });
  const session = await remote.open({ id: "counting" });
  await session.reset({ signal: never });
  await server.close();
  globalThis.setTimeout = Object.assign(
    (callback: () => void, delay = 0) => (delays.push(delay), original(callback, delay)),
    original,
  ) as typeof setTimeout;
  try {
    const refused = () => expect(session.reset({ signal: never })).rejects.toEqual(fails("SERVER_UNAVAILABLE"));
    for (let i = 0; i < 3; i++) await refused();
  } finally {
    globalThis.setTimeout = original;
  }
  expect(delays.length).toBeGreaterThan(0);
  expect(delays.filter((delay) => delay < 0)).toEqual([]);
});

describe("a session", () => {
  test.each(TRANSPORTS)("is aborted on the server when its caller aborts (%s)", async (transport) => {
    const remote = await connect((await serveHere()).port, { transport });
    const session = await remote.open({ id: "counting" });
    await session.reset({ signal: never });
    const controller = new AbortController();
    const underWay = step(session, "wait 600000", controller.signal);
    setTimeout(() => controller.abort(), 30);
    await expect(underWay).rejects.toEqual(fails("CANCELLED"));
    await until(() => counts.aborted === 1);
    // A reset that was cancelled before it was sent.
    await expect(session.reset({ signal: controller.signal })).rejects.toEqual(fails("CANCELLED"));
    expect(shown(await session.reset({ seed: 1, signal: never }))).toBe("seed 1");
  });

  test("keeps its lease while it is idle, and is closed with its host", async () => {
    const server = await serveHere({ maxLeaseMs: 2_000 });
    const remote = await connectEnvironments(`127.0.0.1:${server.port}`, { leaseMs: 2 ** 32 - 1 });
    const [idle, unused] = [await remote.open({ id: "counting" }), await remote.open({ id: "counting" })];
    await idle.reset({ signal: never });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(shown((await step(idle)).observation)).toBe("step 0");
    await unused.close();
    await remote.close();
    await until(() => server.stats().sessions === 0);
    expect([counts.closed, server.stats().expired]).toEqual([1, 0]);
    await expect(step(idle)).rejects.toEqual(fails("SESSION_NOT_FOUND"));
  });

  test("closing ends a step under way as it does in process", async () => {
    const server = await serveHere();
    const remote = await connect(server.port);
    const session = await remote.open({ id: "counting" });
    await session.reset({ signal: never });
    const underWay = step(session, "wait 600000");
    underWay.catch(() => undefined);
    await until(() => server.stats().steps === 1);
    await Promise.all([expect(underWay).rejects.toEqual(fails("SESSION_NOT_FOUND")), session.close()]);
    await until(() => counts.aborted === 1);
  });
});

describe("one seeded case of the faults suite", () => {
  test("connections that are reset during steps and resets lose no call and repeat none", async () => {
    const { port } = await startProcess();
    const drops = { midStep: 6, midReset: 2, offsets: FIRST_CALLS };
    const plays = await Promise.all(
      TRANSPORTS.map((transport, i) => playDisturbed([port], { seed: 7 + i, transport, ...drops })),
    );
    for (const { disturbed, undisturbed } of plays) expect(disturbed).toEqual(undisturbed);
  });

  test("half-open connections end on both sides", () => playHalfOpen("stream"));
});

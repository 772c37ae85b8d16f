import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { ENVIRONMENT_SERVICE, HEALTH_SERVICE, type environmentProto as wire } from "@mrlm/wire";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import { connectEngine, connectEnvironments } from "../src/index.ts";
import { countingPlugin } from "./support/counting-plugin.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Starts a gRPC server with one service. */
async function bare(service: ServiceDefinition, implementation: UntypedServiceImplementation): Promise<string> {
  const server = new Server();
  server.addService(service, implementation);
  cleanups.push(() => server.forceShutdown());
  const port = await new Promise<number>((resolve) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, bound) => resolve(bound)),
  );
  return `127.0.0.1:${port}`;
}

async function serve(): Promise<EnvironmentServer> {
  const server = await serveEnvironments({
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    address: "127.0.0.1:0",
  });
  cleanups.push(() => server.close());
  return server;
}

describe("connecting", () => {
  test("to nothing is SERVER_UNAVAILABLE and names the address", async () => {
    await expect(connectEnvironments("127.0.0.1:1", { connectMs: 50 })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringContaining("127.0.0.1:1"),
      isRetryable: false,
    });
    const malformed = [
      "127.0.0.1",
      "localhost:",
      "[::1]",
      "::1:50051",
      ":50051",
      "a:0",
      "a:65536",
      "dns:name",
      "dns://1.1.1.1/a:1",
    ];
    for (const none of [[], ...malformed, ["127.0.0.1:1", "b"]])
      await expect(connectEnvironments(none)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(connectEngine("localhost")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("to a server of another protocol, or of none of ours, is PROTOCOL_VERSION", async () => {
    const newer: Partial<wire.DescribeResponse> = {
      protocolMajor: 2,
      protocolMinor: 5,
      environments: [],
      instanceId: "",
      serverVersion: "",
    };
    const describeOnly = { describe: ENVIRONMENT_SERVICE.describe };
    const address = await bare(describeOnly, {
      describe: (_call: unknown, answer: (error: null, response: unknown) => void) => answer(null, newer),
    });
    await expect(connectEnvironments(address)).rejects.toMatchObject({
      code: "PROTOCOL_VERSION",
      message: expect.stringContaining("2.5"),
    });
    const other = await bare(HEALTH_SERVICE, {});
    await expect(connectEnvironments(other)).rejects.toMatchObject({ code: "PROTOCOL_VERSION" });
  });

  test("describes an environment once for each connection", async () => {
    const host = new LocalHost({ source: await PluginHost.of([countingPlugin]) });
    let described = 0;
    const describe = host.describe.bind(host);
    host.describe = (environment) => (environment.options !== undefined && described++, describe(environment));
    const server = await serveEnvironments({ host, address: "127.0.0.1:0" });
    cleanups.push(() => server.close());
    const proxy = await fragileProxy(server.port);
    cleanups.push(() => proxy.close());
    const remote = await connectEnvironments(`127.0.0.1:${proxy.port}`);
    cleanups.push(() => remote.close());
    const environment = { id: "counting", options: {} };
    const open = () => Promise.all([1, 2, 3].map(() => remote.open(environment)));
    const [session] = await open();
    await open();
    expect(session?.description).toEqual(await remote.describe(environment));
    expect(described).toBe(1);
    proxy.cut();
    await session?.reset({ signal: never });
    // The server itself asks for the id of the environment before it gives the session a place.
    expect(described).toBe(2);
    await open();
    expect(described).toBe(3);
  });

  test("requests an old description again, because a server may replace packages", async () => {
    const host = new LocalHost({ source: await PluginHost.of([countingPlugin]) });
    const server = await serveEnvironments({ host, address: "127.0.0.1:0" });
    cleanups.push(() => server.close());
    const remote = await connectEnvironments(`127.0.0.1:${server.port}`);
    cleanups.push(() => remote.close());
    const described = async () => (await remote.describe({ id: "counting" })).description;
    const before = await described();
    const describe = host.describe.bind(host);
    host.describe = async (environment) => ({ ...(await describe(environment)), description: "replaced" });
    expect(await described()).toBe(before);
    const now = performance.now.bind(performance);
    performance.now = () => now() + 11_000;
    cleanups.push(() => (performance.now = now));
    // The old one is used once more.
    expect(await described()).toBe(before);
    while ((await described()) !== "replaced") await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("to several servers spreads the sessions, and continues without one that is lost", async () => {
    const servers = [await serve(), await serve()] as const;
    const remote = await connectEnvironments(
      servers.map(({ port }) => `127.0.0.1:${port}`),
      { reconnectMs: 100 },
    );
    cleanups.push(() => remote.close());
    expect((await remote.list()).map(({ id }) => id)).toEqual(["counting@1"]);
    const sessions = await Promise.all(Array.from({ length: 6 }, () => remote.open({ id: "counting" })));
    await Promise.all(sessions.map((session) => session.reset({ signal: never })));
    expect(servers.map((server) => server.stats().sessions)).toEqual([3, 3]);
    await servers[0].close();
    await Promise.all(sessions.map((session) => session.reset({ signal: never })));
    expect(servers[1].stats().sessions).toBe(6);
    await Promise.all(sessions.map((session) => session.close()));
    const next = await remote.open({ id: "counting" });
    await next.reset({ signal: never });
    await next.close();
    const again = await remote.open({ id: "counting@1", options: {} });
    await again.reset({ signal: never });
    expect(servers[1].stats().sessions).toBe(1);
    await expect(remote.open({ id: "nothing" })).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_FOUND" });
  });
});

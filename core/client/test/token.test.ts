import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import { connectEnvironments } from "../src/index.ts";
import { countingPlugin } from "./support/counting-plugin.ts";

const { signal } = new AbortController();
let server: EnvironmentServer;
beforeAll(async () => {
  server = await serveEnvironments({
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    address: "127.0.0.1:0",
    tokens: Tokens.of("secret"),
  });
});
afterAll(() => server.close());

describe.each(["stream", "unary"] as const)("an environment server with a token (%s)", (transport) => {
  test("serves a client with the token", async () => {
    const host = await connectEnvironments(`127.0.0.1:${server.port}`, { transport, token: "secret" });
    const session = await host.open({ id: "counting" });
    await session.reset({ seed: 5, signal });
    await session.close();
    await host.close();
  });

  test.each([[undefined], ["secret2"], [""]])("refuses %p at once", async (token) => {
    const connecting = connectEnvironments(`127.0.0.1:${server.port}`, {
      transport,
      ...(token === undefined ? {} : { token }),
    });
    await expect(connecting).rejects.toMatchObject({ code: "UNAUTHENTICATED", isRetryable: false });
  });
});

test("the clients of one named token share its places, and sessions stay those of their client", async () => {
  const named = await serveEnvironments({
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    address: "127.0.0.1:0",
    tokens: new Tokens([
      { name: "alice", token: "a1" },
      { name: "bob", token: "b1" },
    ]),
    maxSessions: 2,
    maxSessionsPerClient: 1,
    maxQueue: 0,
  });
  const start = async (token: string, transport: "stream" | "unary") => {
    const host = await connectEnvironments(`127.0.0.1:${named.port}`, { token, transport, reconnectMs: 1_000 });
    const session = await host.open({ id: "counting" });
    const started = session.reset({ seed: 1, signal: AbortSignal.timeout(2_000) });
    return { host, started };
  };
  const first = await start("a1", "stream");
  await first.started;
  for (const transport of ["stream", "unary"] as const) {
    const second = await start("a1", transport);
    await expect(second.started).rejects.toMatchObject({ message: expect.stringContaining("of one client") });
    await second.host.close();
  }
  const other = await start("b1", "unary");
  await other.started;
  await Promise.all([first.host.close(), other.host.close()]);
  await named.close();
});

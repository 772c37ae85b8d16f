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

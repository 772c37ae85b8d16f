import { describe, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { ServerTls } from "@mrlm/kit/access";
import { createHttpServer } from "@mrlm/kit/http";
import { connectEnvironments } from "../src/index.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";
import { authority, handshakeError, HANDSHAKE_FAULTS, serveCounting } from "./support/handshake-faults.ts";
import { rotate } from "./support/rotation.ts";

const { signal } = new AbortController();

describe.each(["stream", "unary"] as const)("an environment server with TLS (%s)", (transport) => {
  test.each([
    ["by its address", {}, "127.0.0.1"],
    ["by its name", {}, "localhost"],
    ["with mutual TLS", authority.issue({ usages: ["client"] }), "127.0.0.1"],
  ])("serves a client %s", async (_, own, name) => {
    const server = await serveCounting({
      ...authority.issue({ usages: ["server"] }),
      ...("cert" in own && { ca: authority.cert }),
    });
    const host = await connectEnvironments(`${name}:${server.port}`, {
      transport,
      tls: { ca: authority.cert, ...own },
    });
    const session = await host.open({ id: "counting" });
    await session.reset({ seed: 5, signal });
    await session.close();
    await host.close();
    await server.close();
  });
});

test("several servers are reached with the same settings, each by the name that its certificate has", async () => {
  const identity = authority.issue({ names: ["servers.example.org"] });
  const servers = [await serveCounting(identity), await serveCounting(identity)];
  const host = await connectEnvironments(
    servers.map(({ port }) => `127.0.0.1:${port}`),
    { tls: { ca: authority.cert, serverName: "servers.example.org" } },
  );
  expect(await host.list()).toHaveLength(1);
  await host.close();
  await Promise.all(servers.map((server) => server.close()));
});

test.each(Object.entries(HANDSHAKE_FAULTS))("%s: the client gets TLS_FAILED at once", async (name, draw) => {
  const fault = draw(randomStream(name, 0));
  expect(await handshakeError(fault)).toMatchObject({
    code: "TLS_FAILED",
    isRetryable: false,
    message:
      fault.message instanceof RegExp ? expect.stringMatching(fault.message) : expect.stringContaining(fault.message),
  });
});

test("the HTTPS port of a server is named", async () => {
  const http = createHttpServer(1_000, new ServerTls(authority.issue()));
  const { port } = await http.listen("127.0.0.1:0");
  await expect(connectEnvironments(`127.0.0.1:${port}`, { tls: { ca: authority.cert } })).rejects.toMatchObject({
    code: "TLS_FAILED",
    message: expect.stringContaining("no gRPC server"),
  });
  await http.close(0);
});

test.each([
  [{ ca: "x" }, "cannot be used"],
  [{ cert: authority.issue().cert }, "certificate and no key"],
  [{ key: authority.issue().key }, "key and no certificate"],
  [{ cert: authority.issue().cert, key: authority.issue().key }, "cannot be used"],
])("certificates of a client that cannot work are refused before it connects (%#)", async (tls, message) => {
  await expect(connectEnvironments("127.0.0.1:1", { tls, connectMs: 60_000 })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(message),
  });
});

test("tokens and certificates are replaced under 8 clients that step: no client notices", async () => {
  const outcome = await rotate(randomStream("rotation", 1), 8, 2);
  expect(outcome).toMatchObject({ errors: [], refusedTokens: 2, certificates: 2 });
});

test("a certificate that is unusable after the first connection: calls wait until it is repaired", async () => {
  const good = authority.issue();
  const tls = new ServerTls(good);
  const server = await serveCounting(tls);
  const proxy = await fragileProxy(server.port);
  const host = await connectEnvironments(`127.0.0.1:${proxy.port}`, {
    tls: { ca: authority.cert },
    reconnectMs: 1_500,
  });
  const session = await host.open({ id: "counting" });
  await session.reset({ seed: 1, signal });
  tls.replace(authority.issue({ to: new Date(Date.now() - 1_000) }));
  proxy.cut();
  await expect(host.list()).rejects.toMatchObject({
    code: "SERVER_UNAVAILABLE",
    message: expect.stringContaining("certificate has expired"),
  });
  const waiting = host.list();
  tls.replace(good);
  expect(await waiting).toHaveLength(1);
  await host.close();
  proxy.close();
  await server.close();
});

import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { OpenEnvSocket } from "./support/open-env-socket.ts";
import { OrsClient } from "./support/ors-client.ts";
import { connect, type Served, served, until } from "./support/served.ts";

const LEASE_MS = 300;

let server: Served;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await server.close();
});

/** Proxy of which `freeze` leaves all connections half-open: both kernels acknowledge bytes, nothing arrives, and neither side is closed. */
async function proxyTo(port: number): Promise<{ readonly at: (path: string) => URL; freeze(): void }> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const proxy = createServer((near) => {
    const far = dial(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined).on("data", (bytes) => void (isFrozen || to.destroyed || to.write(bytes)));
      from.on("close", () => void (isFrozen || to.destroy()));
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const { port: own } = proxy.address() as AddressInfo;
  return { at: (path) => new URL(`http://127.0.0.1:${own}${path}`), freeze: () => (isFrozen = true) };
}

type Url = (path: string) => URL;
const never = (work: Promise<unknown>): void => void work.catch(() => undefined);

/** Begins an episode and a call of `wait` by each protocol, whose client then waits. */
const CLIENTS: Readonly<Record<string, (url: Url) => Promise<void>>> = {
  async mcp(url) {
    const { client } = await connect(url("/sums@1/mcp"));
    closing.push(() => client.close());
    never(client.callTool({ name: "wait", arguments: {} }));
  },
  async ors(url) {
    const client = new OrsClient(url);
    await client.create();
    never(client.call("wait"));
  },
  async "nemo-gym"(url) {
    const post = (path: string, body: object, cookie = ""): Promise<Response> =>
      fetch(url(`/sums@1${path}`), {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify(body),
      });
    const row = { responses_create_params: { input: "sum?" }, task: "train/4" };
    const seeded = await post("/seed_session", row);
    never(post("/wait", {}, seeded.headers.getSetCookie()[0]?.split(";")[0]));
  },
  async openenv(url) {
    const socket = await OpenEnvSocket.connect(url("/sums@1/ws"));
    closing.push(() => socket.socket.terminate());
    await socket.reset({ task: "train/1" });
    never(socket.call("wait"));
  },
};

test.each(Object.keys(CLIENTS))(
  "R15: a session whose connections are half-open, with a call under way, ends with its lease: %s",
  async (dialect) => {
    // Sessions of NeMo Gym have 15 times the lease of the server.
    const leaseMs = dialect === "nemo-gym" ? LEASE_MS / 15 : LEASE_MS;
    server = await served({ dialects: [dialect as "mcp"], leaseMs }, ["sums@1", "plain@1"]);
    const proxy = await proxyTo(server.server.port);
    await (CLIENTS[dialect] as (typeof CLIENTS)[string])(proxy.at);
    await until(() => server.watch.waiting === 1);
    proxy.freeze();
    server.watch.open();
    await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
    expect(server.sessions.stats.expired).toBe(1);
  },
);

test("R15: a client of /mcp that listens keeps its session until its connections are half-open", async () => {
  server = await served({ leaseMs: LEASE_MS });
  const proxy = await proxyTo(server.server.port);
  const { client } = await connect(proxy.at("/sums@1/mcp"));
  closing.push(() => client.close());
  const before = server.renewals();
  // More than a lease: each third of it has a ping.
  await until(() => server.renewals() >= before + 4);
  expect(server.sessions.stats).toMatchObject({ sessions: 1, expired: 0 });
  proxy.freeze();
  await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
  expect(server.sessions.stats.expired).toBe(1);
});

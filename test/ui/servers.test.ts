import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { serveUi } from "@mrlm/ui";
import { Mrlm } from "../e2e/support/mrlm.ts";

interface Answer {
  readonly servers: readonly {
    readonly error: { readonly code: string; readonly message: string } | null;
    readonly environments: readonly object[];
    readonly calls: readonly { readonly phase: string; readonly count: number; readonly p99: number }[];
    readonly rss: number;
    readonly limit: number;
  }[];
}

test("the page of servers has the sessions and calls of mrlm serve, and the fault of one that is gone", async () => {
  const server = new Mrlm([
    ...["serve", "--environments", "nim", "--port", "0", "--http-port", "0", "--dialects", "ors"],
    ...["--metrics-port", "0", "--json"],
  ]);
  const { http, metrics } = await server.event(({ event }) => event === "listening");
  const create = (id: string) =>
    fetch(`http://${String(http)}/create`, {
      method: "POST",
      headers: { "x-session-id": id, "content-type": "application/json" },
      body: JSON.stringify({ split: "train", index: 0 }),
    });
  const gone = "http://127.0.0.1:9/metrics";
  const ui = await serveUi({ directories: [], address: "127.0.0.1:0", metrics: [String(metrics), gone] });
  try {
    await Promise.all([create("a"), create("b")]);
    const found = (await (await fetch(`http://127.0.0.1:${ui.port}/api/servers`)).json()) as Answer;
    expect(found.servers[0]).toMatchObject({ error: null, environments: [{ environment: "nim@1" }] });
    expect(found.servers[0]?.rss).toBeGreaterThan(1e7);
    expect(found.servers[1]).toMatchObject({ error: { code: "SERVER_UNAVAILABLE" }, environments: [] });
  } finally {
    await ui.close();
    server.child.kill();
    await server.finished;
  }
});

test("an address of metrics that is slow, large, no HTTP or no metrics is a fault of this address alone", async () => {
  await expect(serveUi({ directories: [], address: "127.0.0.1:0", metrics: ["ftp://x"] })).rejects.toMatchObject({
    code: "USAGE",
  });
  const bodies: Readonly<Record<string, string>> = { "/large": "x".repeat(5 << 20), "/html": "<p>no</p>" };
  const server = createServer(({ url = "" }, response) => {
    if (url === "/away") return void response.writeHead(302, { location: "http://127.0.0.1:9/" }).end();
    if (url !== "/slow") response.end(bodies[url] ?? "");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metrics = ["/slow", "/large", "/html", "/away"].map((path) => base + path);
  const ui = await serveUi({ directories: [], address: "127.0.0.1:0", metrics });
  const { servers } = (await (await fetch(`http://127.0.0.1:${ui.port}/api/servers`)).json()) as Answer;
  await ui.close();
  server.closeAllConnections();
  server.close();
  expect(servers.map(({ error }) => error?.code)).toEqual([
    "SERVER_UNAVAILABLE",
    "MESSAGE_INVALID",
    undefined,
    "SERVER_UNAVAILABLE",
  ]);
});

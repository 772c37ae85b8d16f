import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { OpenEnvSocket } from "./support/open-env-socket.ts";
import { exchangeText, raw } from "./support/raw.ts";
import { type Served, served, until } from "./support/served.ts";

let server: Served;
/** Resets of the server's own, for the names of tools. */
let own = 0;
afterEach(() => server.close());

const DIALECTS = ["mcp", "openenv", "ors", "nemo-gym"] as const;
const OFFERED = ["sums@1", "plain@1"];
const serve = async (options: Parameters<typeof served>[0] = {}): Promise<void> => {
  server = await served({ dialects: DIALECTS, ...options }, OFFERED);
  own = server.sessions.stats.resets;
};
const resets = (): number => server.sessions.stats.resets - own;
/** Checks that nothing was begun, and that an honest client is served. */
const unharmed = async (): Promise<void> => {
  expect(resets()).toBe(0);
  expect(await raw(server.url("/health"))).toMatchObject({ status: 200 });
};

describe("requests of web pages, and of names that are not of this machine", () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ["U11: a decimal host", { host: "2130706433" }],
    ["U11: a decimal host with a port", { host: "2130706433:80" }],
    ["U11: a hexadecimal host", { host: "0x7f000001" }],
    ["U11: an octal host", { host: "0177.0.0.1" }],
    ["U11: a short host", { host: "127.1" }],
    ["U11: a host with a tab", { host: "x\t.localhost" }],
    ["U11: a host with a user", { host: "localhost@127.0.0.1" }],
    ["U11: a host with a path", { host: "127.0.0.1/localhost" }],
    ["U11: a host with an encoded letter", { host: "%6cocalhost" }],
    ["U11: a host with two ports", { host: "localhost:1:2" }],
    ["U11: a host with a query", { host: "localhost?x" }],
    ["U11: a host with a fragment", { host: "localhost#.evil.example" }],
    ["U11: another address of the loopback interface in IPv6", { host: "[::ffff:127.0.0.1]" }],
    ["U11: an origin of an extension", { origin: "chrome-extension://127.0.0.1" }],
    ["U11: an origin of a script", { origin: "javascript://localhost/" }],
    ["U11: an origin of a file", { origin: "file://localhost" }],
    ["U11: an origin of a WebSocket", { origin: "ws://localhost" }],
    ["U11: an origin with a path", { origin: "http://localhost/x" }],
    ["U11: an origin with a user", { origin: "http://localhost@evil.example" }],
    ["U11: two origins", { origin: "http://localhost, http://evil.example" }],
    ["U8: an image of another site", { "sec-fetch-site": "cross-site" }],
    ["U8: a frame of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
  ])("%s is refused", async (_, headers) => {
    await serve();
    for (const path of ["/sums@1/rows", "/sums@1/mcp"])
      expect(await raw(server.url(path), { headers })).toMatchObject({ status: 403 });
    await unharmed();
  });

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ["a page of this machine", { origin: "https://localhost:6274", "sec-fetch-site": "cross-site" }],
    ["the same site", { "sec-fetch-site": "same-site" }],
    ["a link that a person follows", { "sec-fetch-site": "cross-site", "sec-fetch-user": "?1" }],
    ["a name below localhost", { host: "a.b-c.LOCALHOST:65535" }],
  ])("U8, U11: %s is served", async (_, headers) => {
    await serve();
    expect(await raw(server.url("/health"), { headers })).toMatchObject({ status: 200 });
  });

  test("U8: a page of another site that has the token is served", async () => {
    await serve({ tokens: Tokens.of("secret") });
    const headers = { authorization: "Bearer secret", "sec-fetch-site": "cross-site" };
    expect(await raw(server.url("/health"), { headers })).toMatchObject({ status: 200 });
  });

  test.each([
    ["bearer secret", 200],
    ["BEARER   secret", 200],
    ["Bearer\tsecret", 401],
    ["Bearersecret", 401],
    ["Bearer secret,", 401],
    ["Bearer secret, Bearer x", 401],
    ["xBearer secret", 401],
    ["Basic secret", 401],
  ])("U13: the header %j has status %d", async (authorization, status) => {
    await serve({ tokens: Tokens.of("secret") });
    expect(await raw(server.url("/health"), { headers: { authorization } })).toMatchObject({ status });
  });
});

describe("U11: bytes that are no request of a client", () => {
  const head = "POST /sums@1/reset HTTP/1.1\r\nHost: localhost\r\n";
  const upgrade = (lines: string): string =>
    `GET /sums@1/ws HTTP/1.1\r\n${lines}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
  test.each([
    ["a header of a megabyte", `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(1e6)}\r\n\r\n`],
    ["two lengths", `${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}  `],
    [
      "a length beside chunks",
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
    ],
    ["a space before the colon", `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ["an extension of a chunk without end", `${head}Transfer-Encoding: chunked\r\n\r\n1;${"a".repeat(1e5)}\r\n`],
    ["an unknown coding", `${head}Transfer-Encoding: gzip\r\n\r\n`],
    ["no host", "GET /health HTTP/1.1\r\n\r\n"],
    ["line feeds only", "GET /health HTTP/1.1\nHost: localhost\n\n"],
    ["a NUL in a header", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n"],
    ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a WebSocket of another origin", upgrade("Host: localhost\r\nOrigin: http://evil.example\r\n")],
    ["a WebSocket for another host", upgrade("Host: evil.example\r\n")],
    ["a WebSocket for a decimal host", upgrade("Host: 2130706433\r\n")],
    ["a WebSocket of an extension", upgrade("Host: localhost\r\nOrigin: chrome-extension://localhost\r\n")],
    ["a WebSocket of another site", upgrade("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n")],
  ])("%s is refused", async (_, text) => {
    await serve();
    expect(await exchangeText(server.url("/"), text)).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    await unharmed();
  });

  test.each([
    ["the name of a prototype as the type", '{"type":"__proto__"}'],
    ["the name of a method as the type", '{"type":"toString"}'],
    ["20,000 keys", JSON.stringify({ type: "reset", data: manyKeys(20_000) })],
    ["binary data", Buffer.alloc(100)],
  ])("a message with %s ends no connection of others", async (_, message) => {
    await serve();
    const socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
    expect(await socket.ask(message)).toMatchObject({ type: "error" });
    await socket.close();
    expect(server.sessions.stats.sessions).toBe(0);
    expect(await raw(server.url("/health"))).toMatchObject({ status: 200 });
  });
});

test("keys of a prototype in a message of a WebSocket choose nothing", async () => {
  await serve();
  const socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  const { data } = await socket.ask('{"type":"reset","data":{"__proto__":{"split":"eval"},"constructor":1}}');
  expect([data.observation.metadata.mrlm.task ?? "", ({} as Record<string, unknown>)["split"]]).toEqual([
    expect.not.stringContaining("eval"),
    undefined,
  ]);
  await socket.close();
});

function manyKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}

describe("U8: work that one request asks for", () => {
  const rows = (query: string, init: RequestInit = {}): Promise<Response> =>
    fetch(server.url(`/sums@1/rows?split=train&${query}`), init);

  test("more than 1,000 rows are refused; health checks are answered between the rows", async () => {
    await serve();
    const { host } = server;
    const describeSmall = host.describe.bind(host);
    host.describe = async (ref) => ({ ...(await describeSmall(ref)), splits: { train: 5_000 } });
    const refused = await rows("start=0&stop=1001");
    expect([refused.status, (await refused.text()).slice(0, 200)]).toEqual([
      400,
      expect.stringContaining("up to 1000"),
    ]);
    expect(resets()).toBe(0);
    const whole = rows("start=0&stop=1000");
    await until(() => resets() > 0);
    expect(await raw(server.url("/health"))).toMatchObject({ status: 200 });
    expect(resets()).toBeLessThan(1000);
    expect((await (await whole).text()).trim().split("\n")).toHaveLength(1000);
  });

  test("rows of a client that is gone are not begun", async () => {
    await serve();
    const gone = new AbortController();
    const asked = rows("start=0&stop=1000", { signal: gone.signal });
    await until(() => resets() > 0);
    gone.abort();
    await expect(asked).rejects.toThrow("aborted");
    // The next request of the client gets the turn when the work has ended.
    await (await rows("start=0&stop=1")).text();
    expect(resets()).toBeLessThan(1000);
    expect(server.sessions.stats.sessions).toBe(0);
  });

  test("a client gets one answer at a time, and keeps no turn of another one", async () => {
    const tokens = new Tokens(["alice", "bob"].map((name) => ({ name, token: `token-of-${name}` })));
    await serve({ tokens, maxSessions: 8 });
    const headers = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });
    let most = 0;
    const { reset } = server.sessions;
    server.sessions.reset = (...request) => {
      most = Math.max(most, server.sessions.useOfClient("alice").sessions);
      return reset.apply(server.sessions, request);
    };
    const asked = Array.from({ length: 30 }, () => rows("start=0&stop=40", headers("alice")));
    const other = await rows("start=0&stop=1", headers("bob"));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    // A session is counted once it has its place: there is none beside the one that begins.
    expect([other.status, most]).toEqual([200, 0]);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(17);
  });

  const nested = Object.fromEntries(Array.from({ length: 2 }, (_, i) => [`o${i}`, manyKeys(9_000)]));
  const row = (options: object) => ({ responses_create_params: { input: [] }, task: "train/1", options });
  test.each<readonly [string, string, object]>([
    ["OpenEnv", "/sums@1/reset", { options: nested }],
    ["NeMo Gym", "/sums@1/seed_session", row(nested)],
    ["NeMo Gym's other family", "/sums@1/reset", row(nested)],
    ["a list of NeMo Gym", "/sums@1/seed_session", row({ list: Array.from({ length: 20_000 }, () => 0) })],
    ["long texts of NeMo Gym", "/sums@1/seed_session", row({ text: "x".repeat(2 << 20) })],
  ])("options with too many values are refused before they are read: %s", async (_, path, body) => {
    await serve();
    const { status, text } = await raw(server.url(path), { body });
    expect([status, text]).toEqual([expect.any(Number), expect.stringContaining("10000 values")]);
    expect(status).toBeGreaterThanOrEqual(400);
    await unharmed();
  });

  test("an object with 30,000 keys is no JSON of OpenEnv's JSON-RPC", async () => {
    await serve();
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: manyKeys(30_000) };
    expect(await raw(server.url("/sums@1/mcp"), { body })).toMatchObject({ body: { error: { code: -32_700 } } });
    await unharmed();
  });

  test.each([
    ["/sums@1/reset", { options: manyKeys(30_000) }],
    ["/sums@1/seed_session", row(manyKeys(30_000))],
    ["/sums@1/task", manyKeys(30_000)],
    ["/sums@1/call", manyKeys(30_000)],
    ["/sums@1/aggregate_metrics", { verify_responses: [manyKeys(30_000)] }],
  ])("an object with 30,000 keys is refused: %s", async (path, body) => {
    await serve();
    const { status, text } = await raw(server.url(path), { body });
    expect([status, text]).toEqual([400, expect.stringContaining("more than 10000 keys")]);
    await unharmed();
  });
});

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { begin, call, INITIALIZE, open, raw, exchangeText, responseOf } from "./support/raw.ts";
import { connect, type Served, served, textOf, until } from "./support/served.ts";

let server: Served;

afterEach(() => server.close());

const code = (expected: string) => ({ error: { data: { code: expected } } });

describe("access", () => {
  test("needs the token in every request, if there is one", async () => {
    server = await served({ tokens: Tokens.of("secret") });
    for (const authorization of ["", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secret2"]) {
      const { status, headers, body } = await raw(server.url(), { body: INITIALIZE, headers: { authorization } });
      expect([status, headers["www-authenticate"], body]).toMatchObject([401, "Bearer", code("UNAUTHENTICATED")]);
    }
    expect(await raw(server.url(), { body: INITIALIZE, headers: { "x-api-key": "secre" } })).toMatchObject({
      status: 401,
    });
    expect(await raw(server.url(), { body: INITIALIZE, headers: { "x-api-key": "secret" } })).toMatchObject({
      status: 200,
    });
    const headers = { authorization: "Bearer secret" };
    const session = await open(server.url(), headers);
    expect(await call(server.url(), session, "observe")).toMatchObject({ status: 401 });
    const { client, end } = await connect(server.url(), headers);
    expect(textOf(await client.callTool({ name: "add", arguments: { a: 1, b: 2 } }))).toBe("3");
    await end();
    await expect(connect(server.url())).rejects.toThrow(/401|Unauthorized|token/i);
  });

  test.each([
    [{ host: "evil.example" }, 403],
    [{ host: "127.0.0.1.evil.example" }, 403],
    [{ host: "127.0.0.1@evil.example" }, 403],
    [{ host: "localhost.evil.example:8080" }, 403],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost.evil.example" }, 403],
    [{ origin: "file://" }, 403],
    [{ host: "evil-localhost" }, 403],
    [{ host: "localhost:1234" }, 200],
    [{ host: "sessions.localhost:1234" }, 200],
    [{ host: "[::1]" }, 200],
    [{ origin: "http://localhost:6274" }, 200],
  ])("from headers %j has status %d", async (headers, status) => {
    server = await served();
    const response = await raw(server.url(), { body: INITIALIZE, headers });
    expect(response.status).toBe(status);
    if (status === 403) expect(response.body).toMatchObject(code("ORIGIN_REFUSED"));
  });

  test("takes any host name with a token, and no page of another host", async () => {
    server = await served({ tokens: Tokens.of("secret") });
    const headers = { authorization: "Bearer secret", host: "proxy.example" };
    expect(await raw(server.url(), { body: INITIALIZE, headers })).toMatchObject({ status: 200 });
    const page = { ...headers, origin: "https://proxy.example" };
    expect(await raw(server.url(), { body: INITIALIZE, headers: page })).toMatchObject({ status: 403 });
  });
});

describe("a request", () => {
  test.each<[string, unknown, number, number]>([
    ["text", "{", 400, -32_700],
    ["nothing", "", 400, -32_700],
    ["broken UTF-8", Buffer.from([0x22, 0xff, 0x22]), 400, -32_700],
    ["100,000 nested lists", "[".repeat(100_000) + "]".repeat(100_000), 400, -32_700],
    ["null", null, 400, -32_000],
    ["a number", 7, 400, -32_000],
    ["no method", { jsonrpc: "2.0", id: 1 }, 400, -32_000],
    ["another version of JSON-RPC", { ...INITIALIZE, jsonrpc: "1.0" }, 400, -32_000],
    ["initialize without parameters", { jsonrpc: "2.0", id: 1, method: "initialize" }, 400, -32_000],
    ["a batch with initialize", [INITIALIZE], 400, -32_000],
    ["a call outside of a session", { jsonrpc: "2.0", id: 1, method: "tools/list" }, 400, -32_000],
  ])("with %s is refused", async (_, body, status, errorCode) => {
    server = await served();
    const response = await raw(server.url(), { body: body === null ? "null" : body });
    expect([response.status, response.body.error?.code]).toEqual([status, errorCode]);
    expect(server.sessions.stats.opened).toBe(0);
  });

  test("is refused in a session: malformed, of an unknown method, of a wrong media type, of another session", async () => {
    server = await served();
    const session = await open(server.url());
    const headers = { "mcp-session-id": session };
    const message = { jsonrpc: "2.0", id: 5, method: "tools/list" };
    const send = async (options: object) => {
      const { status, body } = await raw(server.url(), { body: message, headers, ...options });
      return [status, body.error?.code];
    };
    expect(await send({})).toEqual([200, undefined]);
    expect(await send({ body: { ...message, method: "tools/forge" } })).toEqual([200, -32_601]);
    expect(await send({ body: { ...message, method: "tools/call", params: { name: 7 } } })).toEqual([200, -32_602]);
    expect(await send({ body: { ...message, id: {} } })).toEqual([400, -32_700]);
    expect(await send({ body: INITIALIZE })).toEqual([400, -32_600]);
    expect(await send({ headers: { ...headers, "content-type": "text/plain" } })).toEqual([415, -32_000]);
    expect(await send({ headers: { ...headers, accept: "text/html" } })).toEqual([406, -32_000]);
    expect(await send({ headers: { ...headers, "mcp-protocol-version": "1999-01-01" } })).toEqual([400, -32_000]);
    const unknown = await raw(server.url(), { body: message, headers: { "mcp-session-id": "0".repeat(32) } });
    expect([unknown.status, unknown.body]).toMatchObject([404, code("SESSION_NOT_FOUND")]);
    expect(await raw(server.url(), { method: "PUT", body: message, headers })).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST, DELETE" },
    });
    expect(await raw(server.url("/other"), { body: message })).toMatchObject({ status: 404 });
    expect(await send({})).toEqual([200, undefined]);
  });

  test("is limited: the body with and without its length, the headers, the time", async () => {
    server = await served({ maxRequestBytes: 10_000 });
    const tooLarge = await raw(server.url(), { body: "x".repeat(10_001) });
    expect([tooLarge.status, tooLarge.body]).toMatchObject([413, code("MESSAGE_INVALID")]);
    const chunked = begin(server.url(), { "transfer-encoding": "chunked" });
    chunked.on("error", () => undefined);
    for (let i = 0; i < 11; i++) chunked.write(" ".repeat(1_000));
    expect(await responseOf(chunked)).toMatchObject({ status: 413 });
    const head = "POST /sums@1/mcp HTTP/1.1\r\nHost: localhost\r\n";
    expect(await exchangeText(server.url(), `${head}x: ${"y".repeat(1 << 20)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await exchangeText(server.url(), "POST /sums@1/mcp HTTP/1.0\r\n\r\n{}")).toMatch(/^HTTP\/1\.1 403 /);
    expect(server.sessions.stats.opened).toBe(0);
    await server.close();
    server = await served({ requestMs: 200 });
    expect(await exchangeText(server.url(), `${head}Content-Length: 100\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 408 /);
    expect(server.logged).toEqual([]);
    expect(server.sessions.stats.opened).toBe(0);
  });
});

describe("a session", () => {
  test("ends with its lease: then it is unknown, and its tools are closed", async () => {
    server = await served();
    const session = await open(server.url("/sums@1/mcp?lease_ms=60"));
    await until(() => server.watch.closed === 1);
    const { status, body } = await call(server.url(), session, "observe");
    expect([status, body]).toMatchObject([404, code("SESSION_NOT_FOUND")]);
    expect(server.sessions.stats).toMatchObject({ sessions: 0, expired: 1 });
  });

  test("stays open while its client listens", async () => {
    server = await served();
    const { client } = await connect(server.url("/sums@1/mcp?lease_ms=1500"));
    const before = server.renewals();
    // More than a lease: each third of it has a renewal.
    await until(() => server.renewals() >= before + 4);
    await client.close();
    await until(() => server.sessions.stats.expired === 1);
    expect(server.watch.closed).toBe(1);
  });

  test("sends a change of the tools when its client begins to listen", async () => {
    server = await served();
    const session = await open(server.url());
    await call(server.url(), session, "grow");
    const stream = begin(server.url(), { "mcp-session-id": session, accept: "text/event-stream" }, "GET");
    stream.end();
    const [response] = (await once(stream, "response")) as [IncomingMessage];
    const [event] = (await once(response, "data")) as [Buffer];
    expect(String(event)).toContain("notifications/tools/list_changed");
    stream.on("error", () => undefined).destroy();
  });

  test("can be read after the end of its episode, for the time of a lease", async () => {
    server = await served();
    const url = server.url("/plain@1/mcp");
    const session = await open(server.url("/plain@1/mcp?lease_ms=2000"));
    expect(textOf((await call(url, session, "finish", { answer: "yes" })).body.result)).toContain("has ended");
    expect(server.sessions.stats.sessions).toBe(0);
    expect(textOf((await call(url, session, "observe")).body.result)).toContain("The episode has ended.");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await call(url, session, "observe")).toMatchObject({ status: 404 });
  });

  test("is one of a limited number; more wait, then they are refused with a delay", async () => {
    server = await served({ maxSessions: 1, maxQueue: 1, queueMs: 50 });
    const full = await open(server.url());
    expect(full).toMatch(/^[0-9a-f]{32}$/);
    const begins = [raw(server.url(), { body: INITIALIZE }), raw(server.url(), { body: INITIALIZE })];
    for (const { status, headers, body } of await Promise.all(begins))
      expect([status, Number(headers["retry-after"]) > 0, body]).toMatchObject([503, true, code("RESOURCE_EXHAUSTED")]);
    await server.close();
    server = await served({ maxSessions: 1 });
    const session = await open(server.url());
    const waiting = open(server.url());
    await until(() => server.sessions.stats.queued === 1);
    const ended = await raw(server.url(), { method: "DELETE", headers: { "mcp-session-id": session } });
    expect(ended.status).toBe(200);
    await waiting;
    expect(await call(server.url(), session, "observe")).toMatchObject({ status: 404 });
  });

  test("counts for the name of its token", async () => {
    const tokens = new Tokens([
      { name: "alice", token: "a1" },
      { name: "bob", token: "b1" },
    ]);
    server = await served({ tokens, maxSessions: 3, maxSessionsPerClient: 1, maxQueue: 0 });
    const of = (token: string) => ({ authorization: `Bearer ${token}` });
    expect(await open(server.url(), of("a1"))).toMatch(/^[0-9a-f]{32}$/);
    const { status, body } = await raw(server.url(), { body: INITIALIZE, headers: of("a1") });
    expect([status, body]).toMatchObject([503, code("RESOURCE_EXHAUSTED")]);
    expect(await open(server.url(), of("b1"))).toMatch(/^[0-9a-f]{32}$/);
  });

  test("takes calls at the same time in order, 64 of them, and is apart from other sessions", async () => {
    server = await served();
    const [one, other] = await Promise.all([
      open(server.url("/sums@1/mcp?task=train/1")),
      open(server.url("/sums@1/mcp?task=train/2")),
    ]);
    const waiting = call(server.url(), one, "wait");
    await until(() => server.watch.waiting === 1);
    const burst = Array.from({ length: 70 }, (_, i) =>
      call(server.url(), one, "finish", { answer: i === 0 ? "3" : "late" }, i + 10),
    );
    expect(textOf((await call(server.url(), other, "finish", { answer: "5" })).body.result)).toBe(
      "The episode has ended.",
    );
    const settled = Promise.all(burst);
    // Each of the others waits, or was refused.
    await until(() => server.sessions.stats.steps === 2);
    await Promise.race(burst);
    server.watch.open();
    expect(textOf((await waiting).body.result)).toBe("waited");
    const texts = (await settled).map(({ body }) => textOf(body.result));
    expect(texts.filter((text) => text === "The episode has ended.")).toHaveLength(1);
    expect(texts.filter((text) => text.includes("Open a new session"))).toHaveLength(63);
    expect(texts.filter((text) => text.includes("64 others waited"))).toHaveLength(6);
  });

  test("continues when a client disconnects during a call; observe shows the result", async () => {
    server = await served();
    const session = await open(server.url());
    const lost = begin(server.url(), { "mcp-session-id": session });
    lost.on("error", () => undefined);
    lost.end(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } }));
    await until(() => server.watch.waiting === 1);
    lost.destroy();
    server.watch.open();
    await until(() => server.watch.waiting === 0);
    expect(textOf((await call(server.url(), session, "observe")).body.result)).toMatch(/Latest observation:\nwaited$/);
  });

  test("is given up when its client disconnects before it knows the id", async () => {
    server = await served();
    const lost = begin(server.url("/sums@1/mcp?seed=13"), {});
    lost.on("error", () => undefined);
    lost.end(JSON.stringify(INITIALIZE));
    await until(() => server.sessions.stats.sessions === 1);
    lost.destroy();
    await until(() => server.sessions.stats.sessions === 0);
    expect(server.logged).toEqual([]);
  });

  test("fails when its client cancels a call", async () => {
    server = await served();
    const { client, end } = await connect(server.url());
    const controller = new AbortController();
    const cancelled = client.callTool({ name: "wait" }, { signal: controller.signal });
    await until(() => server.watch.waiting === 1);
    controller.abort();
    await expect(cancelled).rejects.toThrow(/abort/i);
    await until(() => server.watch.closed === 1);
    const late = await client.callTool({ name: "add", arguments: { a: 1, b: 1 } });
    expect([late.isError, textOf(late)]).toEqual([true, expect.stringContaining("an action failed (CANCELLED)")]);
    await end();
  });
});

describe("a server that stops", () => {
  test("opens no new sessions and waits for the open ones", async () => {
    server = await served();
    const { client, end } = await connect(server.url());
    const closing = server.server.close(60_000);
    const refused = await raw(server.url(), { body: INITIALIZE });
    expect([refused.status, refused.body]).toMatchObject([503, code("SERVER_UNAVAILABLE")]);
    expect(textOf(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } }))).toBe("2");
    await end();
    await closing;
    expect([server.watch.opened, server.watch.closed]).toEqual([1, 1]);
  });

  test("ends calls and streams that are left", async () => {
    server = await served();
    const { client } = await connect(server.url());
    const session = await open(server.url());
    const waiting = call(server.url(), session, "wait");
    await until(() => server.watch.waiting === 1);
    await server.server.close(0);
    const { status, body } = await waiting;
    expect([status, body]).toMatchObject([404, code("SESSION_NOT_FOUND")]);
    await expect(client.listTools()).rejects.toThrow(/fetch failed|ECONNREFUSED|closed/i);
    await client.close();
    expect([server.watch.opened, server.watch.closed, server.watch.waiting]).toEqual([2, 2, 0]);
  });
});

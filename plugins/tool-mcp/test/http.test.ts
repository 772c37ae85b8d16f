import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { McpToolset } from "../src/toolset.ts";
import { HttpServer } from "./support/http-server.ts";
import { until } from "./support/processes.ts";
import { call, episode, textOf, toolset } from "./support/toolset.ts";

let server: HttpServer;
let tools: McpToolset;
let url: string;

const open = (kind: { readonly type?: "http" } = { type: "http" }) =>
  toolset({
    mcpServers: { s: { ...kind, url, headers: { "x-key": "${HTTP_SECRET}" } } },
    servers: { s: { message_bytes: 65_536, start_timeout_ms: 20_000 } },
  });

beforeEach(async () => {
  process.env["HTTP_SECRET"] = "the-secret-value";
  server = new HttpServer();
  url = await server.listen();
  tools = await open();
});

afterEach(async () => {
  await tools.close();
  await server.close();
  delete process.env["HTTP_SECRET"];
});

test("answers as JSON and as streams; a repeated answer is ignored; the session ends with the episode", async () => {
  const opened = await episode(tools);
  expect(textOf(await call(opened, "s__json"))).toBe("fine");
  expect(textOf(await call(opened, "s__stream"))).toBe("fine");
  expect(textOf(await call(opened, "s__twice"))).toBe("1");
  expect(server.lastKey).toBe("the-secret-value");
  await opened.close();
  expect([server.counts["initialize"], server.counts["DELETE"]]).toEqual([1, 1]);
});

test.each(["large_json", "large_stream", "endless_event"])("%s: an error that states the limit", async (name) => {
  const opened = await episode(tools);
  const result = await call(opened, `s__${name}`);
  expect([result.isError, textOf(result)]).toEqual([true, "The answer was larger than 64 KiB and was discarded."]);
  expect(textOf(await call(opened, "s__json"))).toBe("fine");
  expect([server.counts[name], server.counts["initialize"]]).toEqual([1, 1]);
  await opened.close();
});

test.each(["deep_json", "deep_stream"])("U5: %s: the process and the session stay", async (name) => {
  const opened = await episode(tools);
  const result = await call(opened, `s__${name}`);
  expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining("nested deeper than 1000 levels")]);
  expect(textOf(await call(opened, "s__json"))).toBe("fine");
  expect([server.counts[name], server.counts["initialize"]]).toEqual([1, 1]);
  await opened.close();
});

test.each([
  ["ends", "The stream of the answer ended without it"],
  ["breaks", "The stream of the answer ended without it"],
  ["drops", "fetch failed"],
  ["fails", "internal: [HTTP_SECRET] (status 500)"],
  ["gone", "no such session"],
  ["html", "Unexpected content type"],
  ["garbage", "JSON"],
])("%s: the call rejects, is not repeated, and the next one has a new session", async (name, message) => {
  const opened = await episode(tools);
  await expect(call(opened, `s__${name}`)).rejects.toThrow(message);
  expect(textOf(await call(opened, "s__json"))).toContain("s was started again");
  expect([server.counts[name], server.counts["initialize"]]).toEqual([1, 2]);
  await opened.close();
});

test("an aborted call is cancelled, and the session stays", async () => {
  const opened = await episode(tools);
  const abort = new AbortController();
  const waiting = call(opened, "s__never", {}, { signal: abort.signal });
  abort.abort(new Error("too late"));
  await expect(waiting).rejects.toThrow("too late");
  expect(textOf(await call(opened, "s__json"))).toBe("fine");
  expect(server.counts["notifications/cancelled"]).toBe(1);
  // The request whose answer never comes is not left open.
  expect(await until(() => server.counts["aborted"] === 1)).toBe(true);
  await opened.close();
});

test("a redirect to another origin is refused: it never gets the headers", async () => {
  const other = new HttpServer();
  server.redirect = await other.listen();
  await expect(open()).rejects.toThrow("MCP server s did not start");
  expect([other.counts, other.lastKey]).toEqual([{}, undefined]);
  await other.close();
});

test("a server that does not exist is an error that states why", async () => {
  await server.close();
  await expect(open()).rejects.toThrow(/MCP server s did not start: fetch failed: ./);
  server = new HttpServer();
  await server.listen();
});

test("a server that refuses streamable HTTP is reached by the legacy transport; a deep answer is discarded (U5), a lost stream ends its calls once", async () => {
  server.isLegacy = true;
  const legacy = await open({});
  const opened = await episode(legacy);
  expect(textOf(await call(opened, "s__json"))).toBe("fine");
  const deep = await call(opened, "s__deep_json");
  expect([deep.isError, textOf(deep)]).toEqual([true, expect.stringContaining("nested deeper than 1000 levels")]);
  for (const name of ["breaks", "large_json"]) {
    await expect(call(opened, `s__${name}`)).rejects.toThrow("MCP server s: Connection closed");
    expect(textOf(await call(opened, "s__json"))).toContain("s was started again");
    expect(server.counts[name]).toBe(1);
  }
  await opened.close();
  await legacy.close();
});

import fc from "fast-check";
import { call, INITIALIZE, open, raw } from "./raw.ts";
import { served, textOf } from "./served.ts";

const METHODS = [
  "initialize",
  "notifications/initialized",
  "notifications/cancelled",
  "ping",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "logging/setLevel",
  "server/discover",
  "completion/complete",
  "tasks/get",
  "__proto__",
  "",
];

const anyId = fc.oneof(fc.integer(), fc.string({ maxLength: 9 }), fc.constantFrom(null, undefined, 1.5, {}, [], true));
const args = fc.oneof(
  fc.object({ maxDepth: 3 }),
  fc.constantFrom({ answer: "again" }, { a: 1, b: 2 }, [], null, "text", JSON.parse('{"__proto__":{"a":1}}') as object),
);
const params = fc.oneof(
  fc.record({
    name: fc.constantFrom("add", "refuse", "observe", "finish", "none", "", "__proto__", 7),
    arguments: args,
  }),
  fc.record({ requestId: anyId, reason: fc.string() }),
  fc.constant(INITIALIZE.params),
  fc.constantFrom(undefined, null, [], 1, "x"),
);
const message = fc.record({
  jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "2.0", "1.0", undefined, 2),
  id: anyId,
  method: fc.oneof(fc.constantFrom(...METHODS), fc.string({ maxLength: 20 })),
  params,
});
const body = fc.oneof(
  { weight: 6, arbitrary: message.map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 5 }).map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: fc.tuple(message, fc.nat(60)).map(([each, end]) => JSON.stringify(each).slice(0, end)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.json() },
);
const request = fc.record({
  body,
  method: fc.constantFrom("POST", "POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS", "TRACE", "PATCH"),
  session: fc.constantFrom("mine", "mine", "mine", "none", "unknown", "malformed"),
  path: fc.constantFrom(
    "/sums@1/mcp",
    "/sums@1/mcp",
    "/sums@1/mcp?task=eval/1",
    "/%ff/mcp",
    "/mcp",
    "/mcp/",
    "//mcp",
    "/x/y/mcp",
    "/?",
    "/../mcp",
  ),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    {},
    {},
    { accept: "application/json" },
    { "content-type": "text/html" },
    { "mcp-protocol-version": "2026-07-28" },
    { "mcp-protocol-version": "x" },
    { "mrlm-seed": "1e9" },
    { "mrlm-options": "[".repeat(5_000) },
    { "last-event-id": "1" },
  ),
});

/**
 * Sends damaged messages, alone and into a session that one of them may end. Checks that each response is one of the protocol, that the
 * server logs no fault, and that the episode of another client continues.
 * @returns the number of messages
 */
export async function fuzzMessages(seed: number, count: number): Promise<number> {
  const server = await served();
  let mine = await open(server.url());
  const other = await open(server.url("/sums@1/mcp?task=train/4"));
  let sent = 0;
  try {
    await fc.assert(
      fc.asyncProperty(request, async (each) => {
        if ((await call(server.url(), mine, "observe")).status === 404) mine = await open(server.url());
        const session = { mine, none: undefined, unknown: "0".repeat(32), malformed: "\u00e9" }[each.session];
        const headers = {
          ...each.headers,
          ...(session !== undefined && { "mcp-session-id": session }),
          // A stream of notifications has no end.
          ...(each.method === "GET" && { accept: "application/json" }),
        };
        const isRead = each.method === "GET" || each.method === "TRACE";
        const {
          status,
          body: response,
          headers: got,
        } = await raw(server.url(each.path), {
          method: each.method,
          headers,
          ...(isRead ? {} : { body: each.body }),
        });
        sent++;
        if (![200, 202, 400, 404, 405, 406, 415].includes(status))
          throw new Error(`Status ${status}: ${JSON.stringify(response)}`);
        if (status >= 400 && response.error === undefined) throw new Error(`Status ${status} without an error`);
        if (server.logged.length > 0) throw new Error(server.logged.join("\n"));
        const opened = got["mcp-session-id"];
        if (each.session === "none" && opened !== undefined)
          await raw(server.url(), { method: "DELETE", headers: { "mcp-session-id": String(opened) } });
      }),
      { numRuns: count, seed },
    );
    const last = await call(server.url(), other, "finish", { answer: "9" });
    if (textOf(last.body.result) !== "The episode has ended.") throw new Error(last.text);
    return sent;
  } finally {
    await server.close();
  }
}

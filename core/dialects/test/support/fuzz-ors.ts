import fc from "fast-check";
import { type Called, OrsClient } from "./ors-client.ts";
import { raw } from "./raw.ts";
import { served } from "./served.ts";

const PATHS = [
  ...[
    "/create_session",
    "/create",
    "/call",
    "/call",
    "/call",
    "/prompt",
    "/messages",
    "/tools",
    "/task_tools",
    "/ping",
  ],
  ...["/delete", "/delete_session", "/score_group", "/version", "/health", "/openapi.json", "/list_environments"],
  ...["/splits", "/tasks", "/num_tasks", "/task", "/task_range", "/", "//", "/call/", "/%ff", "/..%2fcall", "/absent"],
];
const READ: readonly string[] = [
  ...["/prompt", "/messages", "/tools", "/task_tools", "/version", "/health", "/openapi.json", "/list_environments"],
  "/splits",
];
const PREFIXES = [
  "",
  "/sums@1",
  "/sums",
  "/plain@1",
  "/duel@1",
  "/clash@1",
  "/summs",
  "/%ff",
  "/__proto__",
  "/sums@1/x",
];

const anyValue = fc.oneof(
  fc.integer(),
  fc.string({ maxLength: 9 }),
  fc.constantFrom(null, 1.5, {}, [], true, -1, 1e300),
);
const fields = fc.record(
  {
    env_name: fc.oneof(fc.constantFrom("sums@1", "sums", "plain", "__proto__", null), anyValue),
    split: fc.oneof(fc.constantFrom("train", "eval", "__proto__", "toString"), anyValue),
    index: fc.oneof(fc.nat(1_200), anyValue),
    task_spec: fc.oneof(
      fc.record({ split: fc.constantFrom("train", "eval"), index: fc.nat(12), seed: fc.oneof(fc.nat(9), anyValue) }),
      anyValue,
    ),
    start: anyValue,
    stop: anyValue,
    name: fc.oneof(fc.constantFrom("add", "refuse", "submit", "long", "grow", "none", "", "__proto__"), anyValue),
    input: fc.oneof(
      fc.object({ maxDepth: 3 }),
      fc.constantFrom({ a: 1, b: 2 }, { text: "again" }, { text: "0" }, JSON.parse('{"__proto__":{"a":1}}') as object),
      anyValue,
    ),
    task_id: anyValue,
    candidates: anyValue,
    [`x${"y".repeat(300)}`]: anyValue,
  },
  { requiredKeys: [] },
);
const wellFormed = fc.oneof(
  fc.record({ split: fc.constantFrom("train", "eval"), index: fc.nat(9) }),
  fc.record({
    name: fc.constantFrom("add", "submit", "refuse"),
    input: fc.constantFrom({ a: 1, b: 2 }, { text: "again" }, { text: "0" }, { text: "again", more: 1 }),
  }),
);
const body = fc.oneof(
  { weight: 4, arbitrary: wellFormed.map((each) => JSON.stringify(each)) },
  { weight: 6, arbitrary: fields.map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: fc.tuple(fields, fc.nat(60)).map(([each, end]) => JSON.stringify(each).slice(0, end)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.constant("") },
);
const request = fc.record({
  body,
  path: fc.constantFrom(...PATHS),
  prefix: fc.oneof(
    { weight: 3, arbitrary: fc.constant("/sums@1") },
    { weight: 1, arbitrary: fc.constantFrom(...PREFIXES) },
  ),
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("POST", "GET", "DELETE", "PUT", "OPTIONS", "PATCH") },
  ),
  session: fc.constantFrom("mine", "mine", "mine", "none", "unknown", "malformed", "long"),
  deployment: fc.constantFrom(undefined, undefined, "sums", "env", "\u00e9", "__proto__"),
});

/** Statuses of the protocol, and 405 for a wrong method. */
const STATUSES = [200, 400, 404, 405, 410, 422];

/**
 * Sends damaged requests, of which some reach a session. Checks that each response is one of the protocol, that the server logs no fault of its own, that no
 * answer has a private word, and that the episode of another client continues.
 * @returns the number of requests by status
 */
export async function fuzzOrs(seed: number, count: number): Promise<ReadonlyMap<number, number>> {
  const server = await served({ dialects: ["ors"] });
  const url = (path: string): URL => server.url(path);
  const other = new OrsClient(url);
  await other.create(4);
  let mine = new OrsClient(url);
  const statuses = new Map<number, number>();
  try {
    await fc.assert(
      fc.asyncProperty(request, async (each) => {
        if ((await mine.post("/ping")).status !== 200) await (mine = new OrsClient(url)).create(4);
        const sid = { mine: mine.sid, none: undefined, unknown: "0", malformed: "\u00e9", long: "s".repeat(500) }[
          each.session
        ];
        const method = each.method ?? (READ.includes(each.path) ? "GET" : "POST");
        const isRead = method === "GET";
        const response = await raw(server.url(each.prefix + each.path), {
          method,
          headers: {
            ...(sid !== undefined && { "x-session-id": sid }),
            ...(each.deployment !== undefined && { "x-deployment": each.deployment }),
          },
          ...(!isRead && { body: each.body }),
        });
        const { status, text } = response;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!STATUSES.includes(status)) throw new Error(`Status ${status}: ${text}`);
        if (status >= 400 && status !== 405 && !/"(detail|error)":/.test(text)) throw new Error(`${status}: ${text}`);
        if (/canary|private/.test(text)) throw new Error(`A private word: ${text}`);
        const logged = server.logged.splice(0).join("\n");
        if (logged !== "") throw new Error(`${logged} after ${text}`);
      }),
      { numRuns: count, seed },
    );
    const last: Called = await other.call("submit", { text: "9" });
    if (last.output?.reward !== 1) throw new Error(JSON.stringify(last));
    return statuses;
  } finally {
    await server.close();
  }
}

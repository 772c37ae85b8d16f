import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { raw } from "./support/raw.ts";
import { served, until } from "./support/served.ts";

/** Seed of the random choices. FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
const STATUSES = [200, 400, 404, 405, 409, 410, 413, 422, 500];

const anyValue = fc.oneof(fc.integer(), fc.string({ maxLength: 9 }), fc.constantFrom(null, 1.5, {}, [], true, 1e300));
const item = fc.record(
  {
    type: fc.oneof(fc.constantFrom("message", "function_call", "function_call_output", "reasoning"), anyValue),
    role: fc.oneof(fc.constantFrom("assistant", "user"), anyValue),
    content: fc.oneof(fc.constantFrom("9", [{ type: "output_text", text: "again" }], [{ type: "x" }]), anyValue),
    call_id: anyValue,
    name: fc.oneof(fc.constantFrom("add", "refuse", "none", "__proto__"), anyValue),
    arguments: fc.oneof(fc.constantFrom('{"a":1,"b":2}', "{", "[]", '{"__proto__":{"a":1}}'), anyValue),
  },
  { requiredKeys: [] },
);
const row = fc.record(
  {
    responses_create_params: fc.oneof(fc.constantFrom({}, { input: "x" }, { input: [] }), anyValue),
    response: fc.oneof(fc.record({ output: fc.array(item, { maxLength: 4 }) }), anyValue),
    task: fc.oneof(fc.constantFrom("train/3", "train/5000", "none/1", "__proto__/0"), anyValue),
    // An episode with the seed 13 never begins.
    seed: fc.oneof(fc.nat(9), anyValue).filter((seed) => seed !== 13),
    options: anyValue,
    resources_session_id: anyValue,
    task_data: anyValue,
    _ng_step_request_id: anyValue,
    verify_responses: fc.oneof(fc.constant([{ reward: 1 }]), anyValue),
    [`x${"y".repeat(300)}`]: anyValue,
  },
  { requiredKeys: [] },
);
const wellFormed = fc.record({
  responses_create_params: fc.constant({ input: [] }),
  task: fc.constantFrom("train/3", "train/4"),
  response: fc.constantFrom({ output: [] }, { output: [{ type: "message", role: "assistant", content: "9" }] }),
});
const request = fc.record({
  body: fc.oneof(
    { weight: 4, arbitrary: wellFormed.map((each) => JSON.stringify(each)) },
    { weight: 6, arbitrary: row.map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: fc.tuple(row, fc.nat(60)).map(([each, end]) => JSON.stringify(each).slice(0, end)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom("", '{"a":1,"b":2}') },
  ),
  path: fc.constantFrom(
    ...["/seed_session", "/verify", "/reset", "/step", "/step", "/close", "/close_session", "/aggregate_metrics"],
    ...["/add", "/refuse", "/grow", "/none", "/%ff", "/ng-rollout/x/step", "/ng-rollout/x", "/a/b/c", "//"],
    ...["/rows?stop=2", "/rows?start=x", "/rows?split=none&stop=1", "/reverify_mode"],
  ),
  prefix: fc.constantFrom("/sums@1", "/sums@1", "/sums@1", "", "/sums", "/duel@1", "/none"),
  method: fc.constantFrom(undefined, undefined, undefined, undefined, "GET", "PUT", "DELETE"),
  cookie: fc.constantFrom("mine", "mine", "mine", "", "mrlm_session=0", "mrlm_session=%ff; a=b", ";;="),
});

const begin = JSON.stringify({ responses_create_params: { input: [] }, task: "train/4" });
const cookieOf = (headers: { readonly [name: string]: unknown }): string =>
  String(headers["set-cookie"] ?? "").split(";")[0] ?? "";

test("10,000 damaged requests get responses of the protocol, and leave the server at work for others", async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  const server = await served({ dialects: ["nemo-gym"], leaseMs: 1_000 }, ["sums@1", "duel@1"]);
  const seeded = async (): Promise<string> =>
    cookieOf((await raw(server.url("/sums@1/seed_session"), { method: "POST", body: begin })).headers);
  const other = await seeded();
  let mine = await seeded();
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async (each) => {
      const isRead = each.path.startsWith("/rows") || each.path === "/reverify_mode";
      const method = each.method ?? (isRead ? "GET" : "POST");
      const { status, text, headers } = await raw(server.url(each.prefix + each.path), {
        method,
        headers: { cookie: each.cookie === "mine" ? mine : each.cookie },
        ...(method !== "GET" && { body: each.body }),
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (!STATUSES.includes(status)) throw new Error(`Status ${status}: ${text}`);
      // The only fault that these requests cause is an unscored step.
      if (status === 500) throw new Error(`Status 500: ${text}`);
      if (status >= 400 && status !== 405 && !/"(detail|error)":/.test(text)) throw new Error(`${status}: ${text}`);
      if (/canary|private words/.test(text)) throw new Error(`A private word: ${text}`);
      if (headers["set-cookie"] !== undefined) mine = cookieOf(headers);
      else if (each.cookie === "mine" && (status === 404 || status === 409 || status === 410)) mine = await seeded();
      await raw(server.url("/sums@1/add"), { method: "POST", headers: { cookie: other }, body: "[]" });
    }),
    { numRuns: 10_000, seed: SEED, endOnFailure: true },
  );
  console.log([...statuses].toSorted().map(([status, count]) => `${status}: ${count}`));
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
  const response = { output: [{ type: "message", role: "assistant", content: "9" }] };
  const last = await raw(server.url("/sums@1/verify"), {
    method: "POST",
    headers: { cookie: other },
    body: JSON.stringify({ responses_create_params: {}, response }),
  });
  expect(last.body).toMatchObject({ reward: 1, mask_sample: false });
  await server.close();
}, 600_000);

test("1,000 sessions that end in five ways leave no tools, sessions or timers", async () => {
  const server = await served({ dialects: ["nemo-gym"], leaseMs: 50 }, ["sums@1"]);
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const post = (path: string, cookie: string, body: object = {}) =>
    raw(server.url(path), { method: "POST", headers: { cookie }, body: JSON.stringify(body) });
  const response = { output: [{ type: "message", role: "assistant", content: "9" }] };
  const cycle = async (i: number): Promise<void> => {
    const begun = await raw(server.url("/seed_session"), { method: "POST", body: begin });
    expect(begun.status).toBe(200);
    const cookie = cookieOf(begun.headers);
    const ending = i % 5;
    if (ending === 0)
      expect((await post("/verify", cookie, { responses_create_params: {}, response })).status).toBe(200);
    else if (ending === 1) await post("/close", cookie);
    else if (ending === 2) await post("/break", cookie);
    else if (ending === 3) {
      // A client that disconnects in mid-call and never returns.
      const gone = new AbortController();
      const lost = fetch(server.url("/wait"), { method: "POST", headers: { cookie }, signal: gone.signal });
      setTimeout(() => gone.abort(), 20);
      await lost.catch(() => undefined);
    }
    // The others leave the end to the lease.
  };
  const release = setInterval(() => server.watch.open(), 20);
  for (let i = 0; i < 1_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => cycle(i + k)));
  await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
  clearInterval(release);
  // One more was opened at the start, for the names of the tools.
  expect([server.watch.opened, server.watch.waiting]).toEqual([1_001, 0]);
  await server.close();
  await until(() => timers() <= before);
}, 600_000);

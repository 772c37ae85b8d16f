import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { EventStream } from "../src/ors/event-stream.ts";
import { eventsOf, OrsClient, resultOf } from "./support/ors-client.ts";
import { begin, raw } from "./support/raw.ts";
import { type Served, served, until } from "./support/served.ts";

let server: Served;

afterEach(() => server.close());

const serve = async (options: Parameters<typeof served>[0] = {}, offered?: readonly string[]): Promise<Served> =>
  (server = await served({ dialects: ["ors"], ...options }, offered));
const url = (path: string): URL => server.url(path);
const client = (options?: ConstructorParameters<typeof OrsClient>[1]): OrsClient => new OrsClient(url, options);
const detail = (part: string) => ({ detail: expect.stringContaining(part) });

describe("an episode", () => {
  test("has prompt, messages, tools, calls and one reward at its end", async () => {
    await serve();
    const issued = await raw(url("/create_session"), { method: "POST", body: {} });
    const [first, last] = eventsOf(issued.text);
    expect([first?.event, resultOf(issued.text)]).toEqual(["task_id", { sid: first?.data }]);
    expect(last?.event).toBe("end");
    const session = client({ sid: String(first?.data) });
    expect(await session.create(20)).toMatchObject({ status: 200, body: { sid: session.sid } });
    expect((await session.get("/prompt")).body).toEqual([
      { type: "text", text: "You add.", detail: null },
      { type: "text", text: expect.stringMatching(/^20 \+ 21\? \(seed \d+\)$/), detail: null },
    ]);
    expect((await session.get("/messages")).body).toMatchObject([
      { role: "system", blocks: [{ type: "text" }], detail: null },
      { role: "user", blocks: [{ type: "text" }], detail: null },
    ]);
    const listed = (await session.get("/task_tools")).body as unknown as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toEqual([
      ...["add", "picture", "refuse", "break", "wait", "long", "grow", "submit"],
    ]);
    expect(listed).toMatchObject({ terminal_tool: null, supports_score_group: false });
    for (const tool of listed.tools) expect(Object.keys(tool)).toEqual(["name", "description", "input_schema"]);
    expect(await session.call("add", { a: 20, b: 21 })).toEqual({
      ok: true,
      output: {
        blocks: [{ type: "text", text: "41", detail: null }],
        metadata: {
          mrlm: { terminated: false, truncated: false, reward: -0.01, components: {}, is_error: false },
        },
        reward: null,
        finished: false,
      },
    });
    expect(await session.call("picture")).toMatchObject({
      output: { blocks: [{ type: "image", data: "AQID", mimeType: "image/png" }] },
    });
    expect(await session.call("refuse")).toMatchObject({
      ok: true,
      output: { metadata: { mrlm: { is_error: true } } },
    });
    expect(await session.call("submit", { text: "41" })).toMatchObject({
      ok: true,
      output: {
        reward: 0.97,
        finished: true,
        metadata: { mrlm: { terminated: true, truncated: false, reward: 1, components: { correct: 1 } } },
      },
    });
    await until(() => server.sessions.stats.sessions === 0);
    expect(await session.call("add", { a: 1, b: 1 })).toMatchObject({ ok: false, reason: "episode_finished" });
    expect(await session.post("/ping")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await session.post("/delete")).toMatchObject({ status: 200, body: { sid: session.sid } });
    expect(await session.post("/delete_session")).toMatchObject({ status: 200 });
  });

  test("without tools has the tool submit alone, on a port for its environment", async () => {
    await serve({}, ["plain@1"]);
    const session = client({ prefix: "" });
    expect((await session.get("/tools")).body).toMatchObject({ tools: [{ name: "submit" }] });
    // The catalogue has one task of an environment without tasks.
    expect(await session.post("/create", { split: "train", index: 0 }, { "x-deployment": "env" })).toMatchObject({
      status: 200,
    });
    expect(await session.call("submit", { text: "again" })).toMatchObject({
      output: { blocks: [{ text: "Try again." }], reward: null, finished: false },
    });
    expect(await session.call("submit", { text: "no" })).toMatchObject({ output: { reward: 0, finished: true } });
  });

  test("that a limit ends is truncated; that has an unscored step has no reward", async () => {
    await serve();
    const session = client();
    await session.create();
    let last;
    for (let i = 0; i < 6; i++) last = await session.call("add", { a: i, b: 1 });
    expect(last).toMatchObject({
      output: { finished: true, metadata: { mrlm: { terminated: false, truncated: true } } },
    });
    const broken = client();
    await broken.create();
    const end = await broken.call("break");
    expect(end).toMatchObject({ output: { reward: null, finished: true } });
    expect(end.output?.metadata.mrlm["unscored"]).toMatchObject({ code: "TOOL_FAILED" });
  });

  test("honours a seed of its task, and refuses one that the environment cannot honour", async () => {
    await serve();
    const session = client();
    const spec = { id: "train/3", split: "train", index: 3, seed: 12 };
    await session.post("/create", { task_spec: spec, env_name: "sums" });
    expect((await session.get("/prompt")).body).toMatchObject([{}, { text: "3 + 4? (seed 12)" }]);
    const plain = client({ prefix: "/plain@1" });
    expect(await plain.post("/create", { task_spec: { ...spec, id: null } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/SEED_REFUSED|TASK_NOT/) },
    });
  });
});

describe("a mistake of the model", () => {
  test("leaves the session alive and takes no turn", async () => {
    await serve();
    const session = client();
    await session.create();
    expect(await session.call("forge")).toMatchObject({ ok: false, reason: "not_found" });
    expect(await session.call("submit", { answer: "1" })).toMatchObject({ ok: false, reason: "input_validation" });
    expect(await session.call("submit", { text: 1 })).toMatchObject({ ok: false, reason: "input_validation" });
    expect(server.watch.calls).toEqual([]);
    expect(await session.call("add", { a: 1, b: 2 })).toMatchObject({ ok: true });
  });
});

describe("an error has the status of the protocol", () => {
  test("400: no session id, an unknown split or index, an id in use, another form of the task", async () => {
    await serve();
    const session = client();
    for (const path of ["/create", "/ping", "/call", "/delete", "/delete_session"])
      expect(
        await raw(url(`/sums@1${path}`), { body: { split: "train", index: 0, name: "a", input: {} } }),
      ).toMatchObject({ status: 400, body: detail("X-Session-ID") });
    expect(await session.create(1_000)).toMatchObject({ status: 400, body: detail("TASK_NOT_FOUND") });
    expect(await session.create(-1)).toMatchObject({ status: 400 });
    expect(await session.create(0, { split: "secret" })).toMatchObject({ status: 400, body: detail("TASK_NOT_FOUND") });
    expect(await client({ sid: "s".repeat(129) }).create()).toMatchObject({ status: 400 });
    expect(await client({ prefix: "/duel@1" }).create()).toMatchObject({
      status: 400,
      body: detail("ROLES_UNSUPPORTED"),
    });
    expect(await client({ prefix: "/duel@1" }).get("/tools")).toMatchObject({
      status: 400,
      body: detail("ROLES_UNSUPPORTED"),
    });
    // An id whose episode could not start is free again.
    expect(await session.create()).toMatchObject({ status: 200 });
    expect(await session.create()).toMatchObject({ status: 400, body: detail("already exists") });
  });

  test("410: a session that is deleted while it starts; its id is free for another one", async () => {
    await serve();
    const session = client();
    // The environment never starts with this seed.
    const seed = { task_spec: { split: "train", index: 0, seed: 13 }, split: null, index: null };
    const first = session.create(0, seed);
    await until(() => server.sessions.stats.sessions === 1);
    await session.post("/delete");
    const second = session.create(1);
    expect(await first).toMatchObject({ status: 410, body: detail("CANCELLED") });
    expect(await second).toMatchObject({ status: 200 });
    expect((await session.get("/prompt")).text).toContain("1 + 2?");
  });

  test("422: a body that is malformed", async () => {
    await serve();
    const session = client();
    for (const body of [
      [],
      {},
      { split: "train" },
      { split: "train", index: 0, task_spec: { split: "train", index: 0 } },
      { split: "train", index: 0, toolset_name: "codex" },
      { task_spec: { split: "train", index: 0, options: {} } },
    ])
      expect(await session.post("/create", body)).toMatchObject({ status: 422, body: detail("body") });
    expect(await session.post("/create_session", { env: { A: "b" } })).toMatchObject({
      status: 422,
      body: detail("env"),
    });
    await session.create();
    expect(await session.post("/call", { name: "add", input: [] })).toMatchObject({
      status: 422,
      body: detail("input"),
    });
  });

  test("401: without the token, which X-API-Key carries too", async () => {
    await serve({ tokens: Tokens.of("secret") });
    expect(await client().create()).toMatchObject({ status: 401, body: detail("UNAUTHENTICATED") });
    expect(await client({ headers: { "x-api-key": "wrong" } }).create()).toMatchObject({ status: 401 });
    const session = client({ headers: { "x-api-key": "secret" } });
    expect(await session.create()).toMatchObject({ status: 200 });
    expect(await session.call("add", { a: 1, b: 2 })).toMatchObject({ ok: true });
  });

  test("404: an unknown environment, a session that never was, no scores of groups", async () => {
    await serve();
    expect(await client({ prefix: "" }).create()).toMatchObject({ status: 404, body: detail("ENVIRONMENT_NOT_FOUND") });
    expect(await client().create(0, { env_name: "absent" })).toMatchObject({
      status: 404,
      body: detail("ENVIRONMENT_NOT_FOUND"),
    });
    for (const path of ["/prompt", "/messages", "/task_tools"])
      expect(await client().get(path)).toMatchObject({ status: 404, body: detail("SESSION_NOT_FOUND") });
    expect(await client().post("/ping")).toMatchObject({ status: 404 });
    expect(await client().post("/call", { name: "add", input: {} })).toMatchObject({ status: 404 });
    const session = client();
    await session.create();
    expect(await session.post("/score_group", { candidates: [] })).toMatchObject({
      status: 404,
      body: detail("score_group"),
    });
  });

  test("410: a session that was deleted, or whose lease ended", async () => {
    await serve({ leaseMs: 100 });
    const [deleted, left] = [client(), client()];
    await deleted.create();
    await left.create();
    await deleted.post("/delete");
    await until(() => server.sessions.stats.sessions === 0);
    for (const session of [deleted, left]) {
      expect(await session.post("/call", { name: "add", input: {} })).toMatchObject({
        status: 410,
        body: detail("has ended"),
      });
      expect(await session.post("/ping")).toMatchObject({ status: 410 });
    }
    expect(await client({ sid: left.sid, headers: { "x-api-key": "other" } }).post("/ping")).toMatchObject({
      status: 410,
    });
  });

  test("500: a failed start, and an error event for a failed call", async () => {
    await serve({ dialects: ["ors"] }, ["sums@1"]);
    const session = client();
    await session.create();
    const { sessions } = server;
    sessions.step = () => {
      throw new Error("the private words of a fault");
    };
    const failed = await session.post("/call", { name: "add", input: { a: 1, b: 1 } });
    expect(eventsOf(failed.text).map(({ event }) => event)).toEqual(["task_id", "error"]);
    expect(failed.text).toContain("INTERNAL");
    expect(failed.text).not.toContain("private");
    sessions.reset = () => {
      throw new Error("the private words of a fault");
    };
    const start = await client().create();
    expect([start.status, start.body]).toMatchObject([500, detail("INTERNAL")]);
    expect(start.text).not.toContain("private");
  });

  test("503 starting: a full server; the session starts when a place is free", async () => {
    await serve({ maxSessions: 1, maxQueue: 0 });
    const [first, second] = [client(), client()];
    await first.create();
    expect(await second.create()).toMatchObject({
      status: 503,
      headers: { "x-backend-state": "starting", "retry-after": expect.stringMatching(/^\d+$/) },
      body: detail("RESOURCE_EXHAUSTED"),
    });
    await first.post("/delete");
    expect(await second.create()).toMatchObject({ status: 200 });
  });

  test("503 without a state: a server that stops", async () => {
    await serve();
    void server.sessions.stop(0);
    const { status, headers, body } = await client().create();
    expect([status, headers["x-backend-state"], body]).toMatchObject([503, undefined, detail("SERVER_UNAVAILABLE")]);
  });
});

describe("a call", () => {
  test("continues without its client, which fetches the result by the id, and acts once", async () => {
    await serve();
    const session = client();
    await session.create();
    const lost = begin(url("/sums@1/call"), { "x-session-id": session.sid });
    lost.on("error", () => undefined);
    lost.end(JSON.stringify({ name: "wait", input: {} }));
    const [response] = await once(lost, "response");
    const [bytes] = await once(response, "data");
    const [{ data: task_id } = { data: "" }] = eventsOf(String(bytes));
    await until(() => server.watch.waiting === 1);
    lost.destroy();
    const again = session.post("/call", { name: "wait", input: {}, task_id });
    server.watch.open();
    for (const each of [await again, await session.post("/call", { name: "wait", input: {}, task_id })])
      expect(resultOf(each.text)).toMatchObject({ output: { blocks: [{ text: "waited" }] } });
    expect(server.watch.calls).toHaveLength(1);
    const unknown = await session.post("/call", { name: "wait", input: {}, task_id: "0".repeat(32) });
    expect(resultOf(unknown.text)).toBe("unknown task_id");
    const other = client();
    await other.create();
    expect(resultOf((await other.post("/call", { name: "wait", input: {}, task_id })).text)).toBe("unknown task_id");
  });

  test("at the same time as others is taken in turn; above 64 waiting it is no step, and the session continues", async () => {
    await serve();
    const session = client();
    await session.create();
    const first = session.call("wait");
    await until(() => server.watch.waiting === 1);
    const others = Array.from({ length: 70 }, () => session.call("add", { a: 1, b: 1 }));
    const busy = (await Promise.race(others)) as { error?: string };
    expect(busy.error).toContain("SESSION_BUSY");
    server.watch.open();
    expect(await first).toMatchObject({ ok: true });
    const results = await Promise.all(others);
    expect(results.filter(({ ok }) => ok)).toHaveLength(5);
    const finished = results.filter(({ reason }) => reason === "episode_finished");
    const refused = results.filter(({ error }) => error?.includes("SESSION_BUSY"));
    expect([finished.length + refused.length, refused.length > 0]).toEqual([65, true]);
  });

  test("ends with the session that is deleted", async () => {
    await serve();
    const session = client();
    await session.create();
    const call = session.call("wait");
    await until(() => server.watch.waiting === 1);
    await session.post("/delete");
    expect(String(await call)).toContain("CANCELLED");
    await until(() => server.watch.closed === server.watch.opened && server.watch.waiting === 0);
  });

  test("has a result of any length and any text", async () => {
    await serve();
    for (const text of [" ".repeat(600_000), "\u2028é\u0085\u00a0𝄞 ".repeat(100_000), '\\" '.repeat(300_000)]) {
      const response = new PassThrough();
      const stream = new EventStream(Object.assign(response, { writeHead: () => response }) as never);
      stream.end({ text });
      const sent = await textOf(response);
      expect(Math.max(...sent.split("\n").map((line) => line.length))).toBeLessThan(512 * 1024);
      expect(resultOf(sent)).toEqual({ text });
    }
  });
});

test("no answer has a private field of a task, or another client's session", async () => {
  const tokens = new Tokens([
    { name: "one", token: "a" },
    { name: "two", token: "b" },
  ]);
  await serve({ tokens });
  const one = client({ headers: { "x-api-key": "a" } });
  const two = client({ sid: one.sid, headers: { "x-api-key": "b" } });
  await one.create(5);
  expect(await two.get("/prompt")).toMatchObject({ status: 404 });
  await two.create(6);
  const [ofOne, ofTwo] = [await one.get("/prompt"), await two.get("/prompt")];
  expect(ofOne.text).toContain("5 + 6?");
  expect(ofTwo.text).toContain("6 + 7?");
  await two.post("/delete");
  const answers = [
    ofOne.text,
    (await one.get("/messages")).text,
    JSON.stringify(await one.call("submit", { text: "0" })),
  ];
  expect(answers.join("")).not.toMatch(/canary|"11"/);
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { finalAnswer, modelTurn } from "../src/nemo-gym/model-turn.ts";
import { response as modelResponse } from "../src/nemo-gym/requests.ts";
import { type Served, served, until } from "./support/served.ts";

let server: Served;
afterEach(() => server.close());

const OFFERED = ["sums@1", "plain@1"];
const serve = async (options: Parameters<typeof served>[0] = {}, offered: readonly string[] = OFFERED) =>
  (server = await served({ dialects: ["nemo-gym"], ...options }, offered));

/** Client with the cookies of one rollout, as the agents of NeMo Gym have. */
class Agent {
  readonly #base: string;
  #cookie = "";

  constructor(base = "/sums@1") {
    this.#base = base;
  }

  async post(path: string, body: unknown = {}) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = { "content-type": "application/json", ...(this.#cookie !== "" && { cookie: this.#cookie }) };
    const response = await fetch(server.url(`${this.#base}${path}`), { method: "POST", headers, body: text });
    this.#cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? this.#cookie;
    const answer = await response.text();
    return { status: response.status, text: answer, json: () => JSON.parse(answer) as Record<string, unknown> };
  }
}

const message = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const call = (name: string, input: unknown, id = "c1") => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: typeof input === "string" ? input : JSON.stringify(input),
});
const output = (text: string, id = "c1") => ({ type: "function_call_output", call_id: id, output: text });
const row = (task = "train/4") => ({ responses_create_params: { input: "sum?" }, task, note: "kept" });
const answered = (...items: object[]) => ({ ...row(), response: { id: "r", output: items } });

async function seeded(task = "train/4", base?: string): Promise<Agent> {
  const agent = new Agent(base);
  expect(await agent.post("/seed_session", row(task))).toMatchObject({ status: 200, text: "{}" });
  return agent;
}

describe("a resources server", () => {
  test("has a row, tools as routes, and the total reward by /verify, once", async () => {
    await serve();
    const agent = await seeded();
    expect(await agent.post("/add", { a: 4, b: 5 })).toMatchObject({ status: 200, text: "9" });
    const request = answered(call("add", { a: 4, b: 5 }), output("9"), message("9"));
    const first = (await agent.post("/verify", request)).json();
    expect(first).toMatchObject({
      ...request,
      reward: expect.closeTo(0.99, 10),
      reward_components: { correct: 1 },
      correct: 1,
      mask_sample: false,
      terminated: true,
      truncated: false,
    });
    expect((await agent.post("/verify", request)).json()).toEqual(first);
    expect(server.watch.closed).toBe(server.watch.opened);
  });

  test("an unknown tool and wrong arguments are actions; a rollout that ends with a call is truncated", async () => {
    await serve();
    const agent = await seeded();
    expect((await agent.post("/fly", {})).text).toMatch(/fly/);
    expect((await agent.post("/add", { a: "x" })).text).toMatch(/a|b/);
    expect(server.watch.calls.map(({ name }) => name)).toEqual(["fly", "add"]);
    const end = (await agent.post("/verify", answered(call("add", {}), output("no")))).json();
    expect(end).toMatchObject({ reward: expect.closeTo(-0.02, 10), terminated: false, truncated: true });
    // The place of the episode is free.
    expect([server.sessions.stats.sessions, server.watch.closed]).toEqual([0, server.watch.opened]);
    expect((await agent.post("/verify", answered(call("add", {}), output("no")))).json()).toEqual(end);
  });

  test("the answer is that after the last call, and an empty one is an answer", async () => {
    await serve();
    const agent = await seeded();
    const end = await agent.post("/verify", answered(message("9"), call("add", "{"), output("{}"), message("8")));
    expect(end.json()).toMatchObject({ reward: 0, terminated: true });
    const silent = await seeded();
    expect((await silent.post("/verify", answered())).json()).toMatchObject({ reward: 0, terminated: true });
  });

  test("a failed tool, a lost session and a judge that fails are masked samples, or errors", async () => {
    await serve();
    const agent = await seeded();
    await agent.post("/break");
    expect((await agent.post("/verify", answered(message("9")))).json()).toMatchObject({
      reward: 0,
      mask_sample: true,
      failure_kind: "verifier_error",
      failure_reason: expect.stringMatching(/^[A-Z_]+: /),
    });
    await server.close();
    await serve({ leaseMs: 20 });
    const left = await seeded();
    await until(() => server.watch.closed === server.watch.opened);
    const lost = await left.post("/verify", answered(message("9")));
    expect(lost.json()).toMatchObject({ mask_sample: true, failure_kind: "session_lost", truncated: true });
    await server.close();
    await serve({ unscoredIsError: true });
    await agent.post("/seed_session", row());
    await agent.post("/break");
    const refused = await agent.post("/verify", answered(message("9")));
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining("unscored")]);
  });

  test("an environment server names its session, and closes it as often as it likes", async () => {
    await serve();
    const agent = new Agent();
    const episode = { rollout_id: "r", attempt: 0 };
    const seed = { resources_session_id: "mine", episode_id: episode, task_id: { taskset: "t", task_id: "1" } };
    for (let time = 0; time < 2; time++)
      expect((await agent.post("/seed_session", { ...seed, task_data: { task: "train/4" } })).json()).toEqual({
        resources_session_id: "mine",
        resources_tools: null,
        sandbox_access: null,
      });
    expect(server.watch.opened - server.watch.closed).toBe(1);
    expect((await agent.post("/add", { a: 1, b: 2 })).text).toBe("3");
    for (let time = 0; time < 2; time++)
      expect(await agent.post("/close_session", { resources_session_id: "mine", episode_id: episode })).toMatchObject({
        status: 200,
      });
    expect(await agent.post("/add", { a: 1, b: 2 })).toMatchObject({ status: 410 });
    expect(server.watch.closed).toBe(server.watch.opened);
  });

  test("an environment server opens a session once, also at the same time, and never after its close", async () => {
    await serve();
    const open = async (id: string, agent = new Agent()) => {
      const ids = { episode_id: { rollout_id: "r", attempt: 0 }, task_id: { taskset: "t", task_id: "1" } };
      const seed = { resources_session_id: id, ...ids, task_data: { task: "train/4" } };
      return (await agent.post("/seed_session", seed)).status;
    };
    const close = (id: string) => new Agent().post("/close_session", { resources_session_id: id, episode_id: {} });
    const { opened } = server.watch;
    expect(await Promise.all([open("a:b/c d"), open("a:b/c d"), open("a:b/c d")])).toEqual([200, 200, 200]);
    expect(server.watch.opened - opened).toBe(1);
    const agent = new Agent();
    await open("a:b/c d", agent);
    expect(await agent.post("/add", { a: 1, b: 2 })).toMatchObject({ status: 200, text: "3" });
    for (const id of ["a:b/c d", "never opened"]) {
      expect(await close(id)).toMatchObject({ status: 200 });
      expect(await open(id)).toBe(410);
    }
    // A close that arrives while the session starts ends it.
    const starting = open("late");
    await until(() => server.sessions.stats.sessions > 0);
    await close("late");
    expect([200, 410]).toContain(await starting);
    await until(() => server.watch.closed === server.watch.opened && server.sessions.stats.sessions === 0);
    expect(await open("late")).toBe(410);
  });

  test("a reply to the answer truncates the episode, because it cannot reach the model, and frees its place", async () => {
    await serve();
    const agent = await seeded();
    const end = (await agent.post("/verify", answered(message("again")))).json();
    expect(end).toMatchObject({ reward: 0, mask_sample: false, terminated: false, truncated: true });
    expect((await agent.post("/verify", answered(message("again")))).json()).toEqual(end);
    expect(server.watch.closed).toBe(server.watch.opened);
  });

  test("an answer that arrives during the call that ends the episode does not mask the sample", async () => {
    await serve();
    const agent = await seeded();
    for (let turn = 0; turn < 5; turn++) await agent.post("/add", { a: 1, b: 2 });
    const last = agent.post("/wait");
    await until(() => server.watch.waiting === 1);
    const renewals = server.renewals();
    const verified = agent.post("/verify", answered(message("9")));
    await until(() => server.renewals() > renewals);
    server.watch.open();
    expect((await last).text).toBe("waited");
    expect((await verified).json()).toMatchObject({
      ...{ reward: expect.closeTo(-0.06, 10), mask_sample: false, terminated: false, truncated: true },
    });
  });

  test("a response that was cut is one action with its text and its calls, which did not run", () => {
    const cut = { incomplete_details: { reason: "max_output_tokens" } };
    const rollout = [call("add", {}), output("2"), message("Then"), call("add", "")];
    expect(finalAnswer(modelResponse.parse({ output: rollout, ...cut }))).toMatchObject({
      finishReason: "length",
      message: {
        parts: [
          { type: "text", text: "Then" },
          { type: "tool-call", name: "add", arguments: {} },
        ],
      },
    });
  });

  test("has rows for its tasks, which begin with the same observation", async () => {
    await serve();
    const response = await fetch(server.url("/sums@1/rows?split=train&start=2&stop=4"));
    const rows = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, object>);
    expect(rows.map(({ task, seed }) => [task, seed])).toEqual([
      ["train/2", 0],
      ["train/3", 0],
    ]);
    expect(rows[0]?.["responses_create_params"]).toMatchObject({
      input: [
        { role: "system", content: "You add." },
        { role: "user", content: "2 + 3? (seed 0)" },
      ],
      tools: expect.arrayContaining([expect.objectContaining({ type: "function", name: "add" })]),
    });
    const agent = new Agent();
    await agent.post("/seed_session", rows[0]);
    expect((await agent.post("/verify", { ...rows[0], ...answered(message("5")) })).json()).toMatchObject({
      reward: 1,
    });
    expect(await (await fetch(server.url("/plain@1/rows"))).json()).toEqual({
      responses_create_params: { input: [{ role: "user", content: "Answer yes." }] },
      mrlm: { prompt: expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    // The prompt of another seed, or of another task, is not that of the row.
    for (const other of [{ seed: 1 }, { task: "train/3" }])
      expect(await new Agent().post("/seed_session", { ...rows[0], ...other })).toMatchObject({
        status: 400,
        text: expect.stringContaining("DATA_INVALID"),
      });
    const promptAlone = { responses_create_params: { input: "sum?" } };
    expect(await new Agent().post("/reset", promptAlone)).toMatchObject({
      status: 422,
      text: expect.stringContaining("names no task"),
    });
    expect((await fetch(server.url("/sums@1/rows?start=-1"))).status).toBe(400);
    expect((await fetch(server.url("/sums@1/rows?split=none"))).status).toBe(400);
    expect(server.watch.closed).toBe(server.watch.opened);
  });

  test("has metrics of unmasked samples, and no second verification", async () => {
    await serve();
    const agent = new Agent("");
    const samples = [
      { reward: 1, correct: 1, terminated: true, seed: 7, _ng_task_index: 3 },
      { reward: 0.5, correct: 0, terminated: false },
      { reward: 0, correct: 0, mask_sample: true },
    ];
    expect((await agent.post("/aggregate_metrics", { verify_responses: samples })).json()).toEqual({
      group_level_metrics: [],
      agent_metrics: { "mean/reward": 0.75, "mean/correct": 0.5, "mean/terminated": 0.5 },
      key_metrics: { "mean/reward": 0.75 },
    });
    expect(await (await fetch(server.url("/reverify_mode"))).json()).toBe("unsupported");
  });
});

describe("the Gymnasium family", () => {
  const turn = (id: string, ...items: object[]) => ({ ...answered(...items), _ng_step_request_id: id });

  test("has an observation, steps with calls and texts, and acts once for each id", async () => {
    await serve({}, ["sums@1"]);
    const agent = new Agent("");
    const start = await agent.post("/ng-rollout/r1/reset", {
      responses_create_params: { input: [] },
      task: "train/4",
      seed: 5,
    });
    expect(start.json()).toEqual({
      observation: "You add.\n\n4 + 5? (seed 5)",
      info: { supports_step_idempotency: true, supports_explicit_close: true },
    });
    const step = turn("s1", call("add", { a: 4, b: 5 }, "x"), call("add", { a: 1, b: 1 }, "y"));
    const first = (await agent.post("/step", step)).json();
    expect(first).toMatchObject({ observation: null, reward: -0.01, terminated: false, truncated: false });
    expect((first["info"] as Record<string, unknown>)["tool_outputs"]).toEqual([
      { call_id: "x", output: "9" },
      { call_id: "y", output: "2" },
    ]);
    expect((await agent.post("/step", step)).json()).toEqual(first);
    expect(server.watch.calls.length).toBe(2);
    const wrong = (
      await agent.post("/step", turn("w", call("add", { a: 1, b: 1 }, "y"), call("add", "{", "z")))
    ).json();
    expect(wrong["observation"]).toBeNull();
    expect((wrong["info"] as Record<string, unknown>)["tool_outputs"]).toEqual([
      { call_id: "y", output: "2" },
      { call_id: "z", output: expect.stringMatching(/malformed.*no JSON/) },
    ]);
    expect((await agent.post("/step", turn("s2", message("again")))).json()).toMatchObject({
      observation: "Try again.",
    });
    const end = (await agent.post("/step", turn("s3", message("9")))).json();
    expect(end).toMatchObject({ reward: 1, terminated: true, info: { mrlm: { components: { correct: 1 } } } });
    expect(await agent.post("/step", turn("s4", message("9")))).toMatchObject({ status: 409 });
    expect(await agent.post("/close")).toMatchObject({ status: 200 });
    expect(await agent.post("/close")).toMatchObject({ status: 200 });
    expect(server.watch.closed).toBe(server.watch.opened);
  });

  test("an unscored step is an error, because its agents add rewards without a mask; wrong arguments are a malformed call", async () => {
    await serve({}, ["sums@1"]);
    const agent = new Agent("");
    await agent.post("/reset", row());
    expect(await agent.post("/step", turn("s1", call("break", {})))).toMatchObject({
      status: 500,
      text: expect.stringContaining("unscored"),
    });
    const wrong = modelTurn(
      modelResponse.parse({
        output: [message("I add."), call("add", "{")],
        incomplete_details: { reason: "length" },
      }),
    );
    expect(wrong).toMatchObject({
      message: {
        parts: [
          { type: "text", text: "I add." },
          { type: "malformed-call", text: "add({)" },
        ],
      },
      finishReason: "length",
    });
  });

  test("sends no observation where the row has a prompt, and shares its routes with OpenEnv", async () => {
    await serve({ dialects: ["openenv", "nemo-gym"] }, ["sums@1"]);
    expect((await new Agent("").post("/reset", row())).json()).toMatchObject({ observation: null });
    expect((await new Agent("").post("/reset", { task: "train/1" })).json()).toMatchObject({
      reward: null,
      done: false,
    });
  });
});

describe("refused", () => {
  test("rows of another form, unknown tasks and environments, several agents, other sessions", async () => {
    await serve({}, ["sums@1", "plain@1", "duel@1"]);
    const seed = (body: unknown, base?: string) => new Agent(base).post("/seed_session", body);
    expect(await seed({})).toMatchObject({ status: 422, text: expect.stringContaining("responses_create_params") });
    expect(await seed("{")).toMatchObject({ status: 400 });
    expect(await seed({ ...row(), task: "first" })).toMatchObject({
      status: 422,
      text: expect.stringContaining("SPLIT/INDEX"),
    });
    expect(await seed(row("train/5000"))).toMatchObject({
      status: 400,
      text: expect.stringContaining("TASK_NOT_FOUND"),
    });
    expect(await seed({ ...row(), task: null, seed: 1 }, "/plain@1")).toMatchObject({
      status: 400,
      text: expect.stringContaining("SEED_REFUSED"),
    });
    expect(await seed(row(), "/none@1")).toMatchObject({ status: 404 });
    expect(await seed(row(), "")).toMatchObject({ status: 404, text: expect.stringContaining("several environments") });
    expect(await seed({ ...row(), task: null }, "/duel@1")).toMatchObject({
      status: 400,
      text: expect.stringContaining("ROLES_UNSUPPORTED"),
    });
    expect(await new Agent().post("/add", { a: 1, b: 2 })).toMatchObject({ status: 404 });
    expect(await new Agent().post("/step", answered(message("1")))).toMatchObject({ status: 404 });
    expect(await (await seeded()).post("/add", "[1]")).toMatchObject({ status: 422 });
    expect(await new Agent().post("/verify", row())).toMatchObject({ status: 422 });
  });

  test("a tool whose name is a route, at the start", async () => {
    await serve();
    await expect(served({ dialects: ["nemo-gym"] }, ["route@1"])).rejects.toMatchObject({ code: "TOOL_CONFLICT" });
  });

  test("a full server, and sessions of other tokens; private fields and info are in no answer", async () => {
    const tokens = new Tokens([
      { name: "one", token: "a" },
      { name: "two", token: "b" },
    ]);
    await serve({ maxSessions: 1, maxQueue: 0, tokens }, ["sums@1"]);
    const send = async (token: string, path: string, body: object, cookie = "") => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", cookie };
      return fetch(server.url(path), { method: "POST", headers, body: JSON.stringify(body) });
    };
    const first = await send("a", "/seed_session", row());
    const cookie = first.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect((await send("b", "/add", { a: 1, b: 2 }, cookie)).status).toBe(404);
    const full = await send("b", "/seed_session", row());
    expect([full.status, full.headers.get("retry-after")]).toEqual([503, expect.any(String)]);
    const texts = [await first.text(), await (await send("a", "/add", { a: 1, b: 2 }, cookie)).text()];
    texts.push(await (await send("a", "/verify", answered(message("1")), cookie)).text());
    expect(texts.join(" ")).not.toMatch(/canary|"answer"/);
  });
});

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { WebSocket } from "ws";
import { OpenEnvSocket } from "./support/open-env-socket.ts";
import { type Served, served, until } from "./support/served.ts";

let it: Served;
let open: OpenEnvSocket[] = [];

beforeEach(async () => {
  it = await served({ dialects: ["mcp", "openenv"] });
});
afterEach(async () => {
  await Promise.all(open.map((socket) => socket.lose().catch(() => undefined)));
  open = [];
  await it.close();
});

async function connect(path = "/sums@1/ws", headers: Record<string, string> = {}): Promise<OpenEnvSocket> {
  const socket = await OpenEnvSocket.connect(it.url(path), headers);
  open.push(socket);
  return socket;
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(it.url(path), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  // The tests read fields of many forms.
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any };
}

async function get(path: string) {
  const response = await fetch(it.url(path));
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any };
}

function rpc(method: string, params: object = {}, path = "/sums@1/mcp") {
  return post(path, { jsonrpc: "2.0", id: 7, method, params });
}

describe("an episode over /ws", () => {
  test("has observations as text and messages, rewards, components, both ends and a state", async () => {
    const socket = await connect();
    const start = await socket.reset({ task: "train/4", seed: 5, episode_id: "mine" });
    expect(start.type).toBe("observation");
    expect(start.data).toMatchObject({
      observation: { text: "You add.\n\n4 + 5? (seed 5)", messages: [{ role: "system" }, { role: "user" }] },
      reward: null,
      done: false,
      metadata: { mrlm: { episode_id: "mine", terminated: false } },
    });
    expect(start.data.observation.metadata).toEqual(start.data.metadata);
    expect(start.data.observation).not.toHaveProperty("tools");
    const sum = await socket.call("add", { a: 4, b: 5 });
    expect(sum.data).toMatchObject({
      observation: { tool_name: "add", result: { data: "9", is_error: false }, error: null },
      reward: -0.01,
      done: false,
    });
    const last = await socket.step({ message: "9" });
    expect(last.data).toMatchObject({
      reward: 1,
      done: true,
      metadata: { mrlm: { terminated: true, truncated: false, components: { correct: 1 } } },
    });
    const state = await socket.ask({ type: "state" });
    expect(state.data).toMatchObject({ episode_id: "mine", step_count: 2, done: true, task: "train/4" });
    expect(state.data.total_reward).toBeCloseTo(0.99);
    // The place is free, and the socket can begin again.
    expect(it.sessions.stats.sessions).toBe(0);
    expect((await socket.reset({ split: "eval", index: 3 })).data.observation.text).toContain("3 + 4?");
  });

  test("has its tools before and after the reset, with submit", async () => {
    const socket = await connect();
    const before = await socket.step({ type: "list_tools" });
    const names = before.data.observation.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["add", "picture", "refuse", "break", "wait", "long", "grow", "submit"]);
    expect(before.data.observation.tools[0]).toHaveProperty("input_schema.required", ["a", "b"]);
    await socket.reset({ task: "train/1" });
    expect((await socket.call("grow")).data.metadata.mrlm).toMatchObject({ tools_changed: true });
    expect((await socket.step({ type: "list_tools" })).data.observation.tools).toHaveLength(9);
    const end = await socket.call("submit", { text: "3" });
    expect(end.data).toMatchObject({ reward: 1, done: true, observation: { tool_name: "submit", error: null } });
  });

  test("states the errors of tools by their kind", async () => {
    const socket = await connect();
    await socket.reset({ task: "train/1" });
    const kind = async (name: string, args: object) =>
      (await socket.call(name, args)).data.observation.error?.error_type as unknown;
    expect(await kind("refuse", {})).toBe("execution_error");
    expect(await kind("nothing", {})).toBe("tool_not_found");
    expect(await kind("submit", { answer: 3 })).toBe("invalid_args");
    expect((await socket.ask({ type: "state" })).data.step_count).toBe(2);
    const plain = await connect("/plain@1/ws");
    await plain.reset();
    expect((await plain.call("nothing")).data.observation.error.error_type).toBe("tool_not_found");
    expect((await plain.step({ message: "yes" })).data).toMatchObject({ reward: 1, done: true });
  });

  test("has no reward after an unscored step, and its reason", async () => {
    const socket = await connect();
    await socket.reset({ task: "train/1" });
    const { data } = await socket.call("break");
    expect(data).toMatchObject({
      reward: null,
      done: true,
      observation: { error: { error_type: "execution_error", message: expect.stringContaining("TOOL_FAILED") } },
      metadata: { mrlm: { unscored: { code: "TOOL_FAILED" } } },
    });
    expect((await socket.ask({ type: "state" })).data.total_reward).toBe(null);
  });

  test("names the fields of a reset that it ignores", async () => {
    const socket = await connect();
    const { data } = await socket.reset({ task: "train/1", sede: 4 });
    expect(data.metadata.mrlm.ignored).toEqual(["sede"]);
  });

  test("answers two messages at once in order", async () => {
    const socket = await connect();
    socket.send({ type: "reset", data: { task: "train/1" } });
    socket.send({ type: "step", data: { type: "call_tool", tool_name: "add", arguments: { a: 1, b: 2 } } });
    socket.send({ type: "step", data: { message: "3" } });
    expect((await socket.next()).data.observation.text).toContain("1 + 2");
    expect((await socket.next()).data.observation.result.data).toBe("3");
    expect((await socket.next()).data.done).toBe(true);
  });
});

describe("errors over /ws", () => {
  const code = async (socket: OpenEnvSocket, message: unknown) => {
    const { type, data } = await socket.ask(message);
    expect(type).toBe("error");
    return data.code as string;
  };

  test("INVALID_JSON, UNKNOWN_TYPE, VALIDATION_ERROR and EXECUTION_ERROR leave the session open", async () => {
    const socket = await connect();
    expect(await code(socket, "{")).toBe("INVALID_JSON");
    expect(await code(socket, Buffer.from("{}"))).toBe("INVALID_JSON");
    expect(await code(socket, { type: "fly" })).toBe("UNKNOWN_TYPE");
    expect(await code(socket, [1])).toBe("VALIDATION_ERROR");
    expect(await code(socket, { type: "state", extra: 1 })).toBe("VALIDATION_ERROR");
    expect(await code(socket, { type: "reset", data: { seed: -1 } })).toBe("VALIDATION_ERROR");
    expect(await code(socket, { type: "step", data: { text: "x" } })).toBe("VALIDATION_ERROR");
    const { data } = await socket.ask({ type: "step", data: { message: 3 } });
    expect(data.errors[0]).toMatchObject({ loc: ["data", "message"] });
    expect(await code(socket, { type: "step", data: { message: "x" } })).toBe("EXECUTION_ERROR");
    expect(await code(socket, { type: "reset", data: { task: "train/5000" } })).toBe("EXECUTION_ERROR");
    await socket.reset({ task: "train/1" });
    await socket.step({ message: "3" });
    const late = await socket.step({ message: "3" });
    expect(late.data).toMatchObject({ code: "EXECUTION_ERROR", mrlm: { code: "EPISODE_ENDED" } });
  });

  test("FACTORY_ERROR names the environment that cannot begin", async () => {
    const socket = await connect();
    await socket.reset({ task: "train/1" });
    it.watch.failsToOpen = true;
    const { data } = await socket.reset({ task: "train/1" });
    expect(data).toMatchObject({ code: "FACTORY_ERROR", factory_name: "sums@1" });
    it.watch.failsToOpen = false;
    expect((await socket.reset({ task: "train/1" })).type).toBe("observation");
  });

  test("CAPACITY_REACHED carries the use of the server and a delay, and the client may try again", async () => {
    await it.close();
    it = await served({ dialects: ["openenv"], maxSessions: 1, maxQueue: 0 });
    const first = await connect();
    await first.reset({ task: "train/1" });
    const second = await connect();
    const { data } = await second.reset({ task: "train/1" });
    expect(data).toMatchObject({ code: "CAPACITY_REACHED", active_sessions: 1, max_sessions: 1 });
    expect(data.mrlm.retry_delay_ms).toBeGreaterThan(0);
    const full = await rpc("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(full.body.error).toMatchObject({ code: -32_000, data: { code: "RESOURCE_EXHAUSTED" } });
    await first.close();
    await until(() => it.sessions.stats.sessions === 0);
    expect((await second.reset({ task: "train/1" })).type).toBe("observation");
  });

  test("SESSION_ERROR for an unknown session, a second socket, several environments and a lost lease", async () => {
    const unknown = await connect("/sums@1/ws?session_id=none");
    expect((await unknown.next()).data.code).toBe("SESSION_ERROR");
    const first = await connect();
    const { data } = await first.reset({ task: "train/1" });
    const second = await connect(`/sums@1/ws?session_id=${data.metadata.mrlm.session_id}`);
    expect((await second.next()).data).toMatchObject({ code: "SESSION_ERROR", mrlm: { code: "SESSION_BUSY" } });
    await once(second.socket, "close");
    const unnamed = await connect("/ws");
    expect((await unnamed.next()).data.code).toBe("SESSION_ERROR");
    const duel = await connect("/duel@1/ws");
    expect((await duel.reset()).data.mrlm.code).toBe("ROLES_UNSUPPORTED");
  });

  test("a handshake without the token, from another page, or to another path is refused", async () => {
    const status = async (path: string, headers: Record<string, string>) => {
      const socket = new WebSocket(it.url(path).href.replace(/^http/, "ws"), { headers });
      const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
      socket.on("error", () => undefined).terminate();
      return response.statusCode;
    };
    expect(await status("/sums@1/none", {})).toBe(404);
    expect(await status("/sums@1/ws", { origin: "https://example.org" })).toBe(403);
  });
});

describe("sessions", () => {
  test("continue on another socket after a lost one", async () => {
    const socket = await connect();
    const { data } = await socket.reset({ task: "train/1" });
    await socket.call("add", { a: 1, b: 2 });
    await socket.lose();
    const id: string = data.metadata.mrlm.session_id;
    // The server notices the loss after the client.
    let again = await connect(`/sums@1/ws?session_id=${id}`);
    let state = await again.ask({ type: "state" });
    while (state.type === "error") {
      again = await connect(`/sums@1/ws?session_id=${id}`);
      state = await again.ask({ type: "state" });
    }
    expect(state.data.step_count).toBe(1);
    expect((await again.step({ message: "3" })).data.done).toBe(true);
  });

  test("end with a close message, with a closed socket, and without either by their lease", async () => {
    await it.close();
    it = await served({ dialects: ["openenv"], leaseMs: 200 });
    const polite = await connect();
    await polite.reset({ task: "train/1" });
    const ended = once(polite.socket, "close");
    polite.send({ type: "close" });
    await ended;
    await until(() => it.sessions.stats.sessions === 0);
    const closing = await connect();
    await closing.reset({ task: "train/1" });
    await closing.close();
    await until(() => it.sessions.stats.sessions === 0);
    const lost = await connect();
    const { data } = await lost.reset({ task: "train/1" });
    await lost.lose();
    await until(() => it.sessions.stats.sessions === 0);
    let code: unknown;
    while (code !== "SESSION_NOT_FOUND") {
      const late = await connect(`/sums@1/ws?session_id=${data.metadata.mrlm.session_id}`);
      code = (await late.ask({ type: "state" })).data.mrlm?.code;
      await late.close();
    }
    await until(() => it.watch.opened === it.watch.closed);
  });
});

describe("JSON-RPC at /mcp", () => {
  test("shares its session with a socket", async () => {
    const { session_id: id } = (await rpc("openenv/session/create")).body.result;
    const socket = await connect(`/sums@1/ws?session_id=${id}`);
    await socket.reset({ task: "train/2" });
    const { tools } = (await rpc("tools/list", { session_id: id })).body.result;
    expect(tools[0]).toMatchObject({ name: "add", inputSchema: { type: "object" } });
    const sum = await rpc("tools/call", { name: "add", arguments: { a: 2, b: 3 }, session_id: id });
    expect(sum.body).toMatchObject({
      id: 7,
      result: { data: "5", is_error: false, _meta: { mrlm: { reward: -0.01 } } },
    });
    expect((await socket.ask({ type: "state" })).data.step_count).toBe(1);
    expect((await rpc("openenv/session/close", { session_id: id })).body.result).toMatchObject({
      closed: false,
      closing: true,
    });
    await socket.close();
    await until(() => it.sessions.stats.sessions === 0);
  });

  test("works without a socket, over /ws and over its own", async () => {
    const { session_id: id } = (await rpc("openenv/session/create")).body.result;
    await rpc("tools/call", { name: "submit", arguments: { text: "x" }, session_id: id });
    const late = await rpc("tools/call", { name: "submit", arguments: { text: "x" }, session_id: id });
    expect(late.body.result).toMatchObject({ isError: true });
    expect((await rpc("openenv/session/close", { session_id: id })).body.result.closed).toBe(true);
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 1 } } };
    expect((await (await connect()).ask({ type: "mcp", data: request })).data.result.data).toBe("2");
    const bare = await connect("/sums@1/mcp");
    expect(await bare.ask(request)).toMatchObject({ id: 1, result: { data: "2" } });
    expect(await bare.ask("{")).toMatchObject({ error: { code: -32_700 } });
  });

  test("has the codes of its errors with status 200", async () => {
    const error = async (body: unknown) => (await post("/sums@1/mcp", body)).body.error.code as number;
    expect((await post("/mcp", {})).status).toBe(200);
    expect(await post("/mcp", "{")).toMatchObject({ status: 200, body: { id: null, error: { code: -32_700 } } });
    const ofMcp = await post("/mcp", "{", { "mcp-protocol-version": "2025-11-25" });
    expect(ofMcp).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
    expect(await error({})).toBe(-32_600);
    expect(await error({ jsonrpc: "2.0", method: "tools/list", id: 1, extra: 1 })).toBe(-32_600);
    expect(await error({ jsonrpc: "2.0", method: "none", id: 1 })).toBe(-32_601);
    expect(await error({ jsonrpc: "2.0", method: "tools/call", params: {}, id: 1 })).toBe(-32_602);
    expect(await error({ jsonrpc: "2.0", method: "tools/list", params: { session_id: "none" }, id: 1 })).toBe(-32_000);
    it.watch.failsToOpen = true;
    const failed = await rpc("tools/call", { name: "add", arguments: {} });
    expect(failed.body.error.code).toBe(-32_000);
  });
});

describe("HTTP", () => {
  test("plays in an episode of each request", async () => {
    const start = await post("/sums@1/reset", { task: "train/2", seed: 3 });
    expect(start.body).toMatchObject({ done: false, observation: { text: "You add.\n\n2 + 3? (seed 3)" } });
    const action = { type: "call_tool", tool_name: "add", arguments: { a: 1, b: 1 } };
    expect((await post("/sums@1/step", { action })).body.observation.result.data).toBe("2");
    expect((await get("/sums@1/state")).body).toEqual({ episode_id: null, step_count: 0 });
    expect(it.sessions.stats.sessions).toBe(0);
  });

  test("refuses wrong forms with 422, tasks with 400, and unknown environments with 404", async () => {
    const bad = await post("/sums@1/step", { action: { text: 1 } });
    expect(bad.status).toBe(422);
    expect(bad.body.detail[0]).toMatchObject({ loc: ["body", "action", "message"], msg: expect.any(String) });
    expect((await post("/sums@1/reset", { seed: -1 })).status).toBe(422);
    expect((await post("/sums@1/reset", { task: "train/9999" })).status).toBe(400);
    expect((await post("/none@1/reset", {})).status).toBe(404);
    expect((await post("/reset", {})).status).toBe(404);
  });

  test("describes the environment and its actions", async () => {
    expect((await get("/health")).body).toEqual({ status: "healthy" });
    expect((await get("/sums@1/metadata")).body).toMatchObject({ name: "sums@1", description: "Sums of two numbers." });
    expect((await get("/metadata")).body.name).toBe("mrlm");
    expect((await get("/sums@1/schema")).body.action).toMatchObject({ title: "CallToolAction" });
    expect((await get("/plain@1/schema")).body.action).toMatchObject({ required: ["message"] });
    expect(Object.keys((await get("/openapi.json")).body.paths)).toEqual(
      expect.arrayContaining(["/reset", "/step", "/state", "/mcp", "/metadata", "/schema"]),
    );
    expect((await post("/sums@1/task", { split: "train", index: 3 })).body).toMatchObject({ env_name: "sums@1" });
  });
});

test("the token is needed by every route and socket, and separates sessions", async () => {
  await it.close();
  const holders: Readonly<Record<string, string>> = { "Bearer one": "one", "Bearer other": "other" };
  const holder = (header?: string) =>
    header !== undefined && holders[header] !== undefined ? { name: holders[header] } : undefined;
  it = await served({ dialects: ["openenv"], tokens: { holder } as never });
  expect((await post("/sums@1/reset", {})).status).toBe(401);
  const refused = new WebSocket(it.url("/sums@1/ws").href.replace(/^http/, "ws"));
  const [, response] = (await once(refused, "unexpected-response")) as [unknown, { statusCode: number }];
  refused.on("error", () => undefined).terminate();
  expect(response.statusCode).toBe(401);
  const socket = await connect("/sums@1/ws", { authorization: "Bearer one" });
  const id: string = (await socket.reset({ task: "train/1" })).data.metadata.mrlm.session_id;
  await socket.lose();
  const other = await connect(`/sums@1/ws?session_id=${id}`, { authorization: "Bearer other" });
  expect((await other.next()).data.mrlm.code).toBe("SESSION_NOT_FOUND");
});

test("private fields and info appear in no answer", async () => {
  const socket = await connect();
  const seen: unknown[] = [await socket.reset({ task: "train/777" })];
  for (const name of ["add", "picture", "long"]) seen.push(await socket.call(name, { a: 1, b: 2 }));
  seen.push(await socket.ask({ type: "state" }), await socket.step({ message: "4" }));
  seen.push(await post("/sums@1/task_range", { split: "train", start: 0, stop: 3 }));
  expect(JSON.stringify(seen)).not.toMatch(/canary|secret|private|1555/);
});

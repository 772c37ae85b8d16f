import { expect, test } from "@jest/globals";
import { once } from "node:events";
import fc from "fast-check";
import { OpenEnvSocket } from "./support/open-env-socket.ts";
import { served, until } from "./support/served.ts";

/** Seed of the random choices. FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
const CODES = ["INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR", "SESSION_ERROR"];

const action = fc.oneof(
  fc.record({ message: fc.constantFrom("again", "3", 1, null) }),
  fc.record({
    type: fc.constantFrom("call_tool", "list_tools", "none", 3),
    tool_name: fc.constantFrom("add", "refuse", "break", "submit", "none", "", "__proto__", 7),
    arguments: fc.oneof(fc.object({ maxDepth: 3 }), fc.constantFrom({ a: 1, b: 2 }, { text: "3" }, [], null)),
  }),
  fc.object({ maxDepth: 2 }),
);
const reset = fc.record({
  seed: fc.constantFrom(undefined, 3, -1, 1.5, "x", null),
  task: fc.constantFrom("train/1", "train/1", undefined, "none/1", "train/-1", "", 3),
  episode_id: fc.constantFrom(undefined, "mine", "x".repeat(300), 3),
});
const rpc = fc.record({
  jsonrpc: fc.constantFrom("2.0", "2.0", "1.0", undefined),
  id: fc.constantFrom(1, "a", null, undefined, {}, 1.5),
  method: fc.constantFrom("tools/list", "tools/call", "openenv/session/close", "none", "", 3),
  params: fc.constantFrom<unknown>(
    undefined,
    {},
    [],
    { name: "add", arguments: { a: 1, b: 2 } },
    { name: 3 },
    { session_id: "none" },
  ),
});
const frame = fc.oneof(
  { weight: 3, arbitrary: action.map((data) => ({ type: "step", data })) },
  { weight: 2, arbitrary: reset.map((data) => ({ type: "reset", data })) },
  { weight: 1, arbitrary: rpc.map((data) => ({ type: "mcp", data })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("state", "none", "", 3, null), data: fc.json() }) },
  { weight: 1, arbitrary: fc.object({ maxDepth: 2 }) },
);
const text = fc.oneof(
  { weight: 6, arbitrary: frame.map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: fc.tuple(frame, fc.nat(60)).map(([each, end]) => JSON.stringify(each).slice(0, end)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constantFrom("[".repeat(5_000), "null", "1", '""', "[]") },
);

test("10,000 damaged messages of a WebSocket get one answer of the protocol each", async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  const server = await served({ dialects: ["openenv"] });
  const other = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  await other.reset({ task: "train/4" });
  let socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(text, async (each) => {
      if (asked++ % 500 === 499) {
        await socket.lose();
        socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
      }
      const { type, data } = await socket.ask(each);
      if (!["observation", "state", "mcp", "error"].includes(type)) throw new Error(`Type ${type}`);
      if (type === "error" && !CODES.includes(data.code as string)) throw new Error(JSON.stringify(data));
    }),
    { numRuns: 10_000, seed: SEED },
  );
  expect((await other.step({ message: "9" })).data).toMatchObject({ reward: 1, done: true });
  await Promise.all([socket.close(), other.close()]);
  await server.close();
  expect(server.watch.closed).toBe(server.watch.opened);
}, 600_000);

test("10,000 damaged requests over HTTP get the status and the error of the protocol", async () => {
  const server = await served({ dialects: ["openenv"] });
  const request = fc.oneof(
    fc.tuple(
      fc.constant("/sums@1/step"),
      fc.oneof(
        action.map((each) => ({ action: each })),
        action,
      ),
    ),
    fc.tuple(fc.constant("/sums@1/reset"), reset),
    fc.tuple(fc.constantFrom("/sums@1/mcp", "/mcp"), rpc),
    fc.tuple(fc.constantFrom("/none/reset", "/reset", "/sums@1/task", "/sums@1/state"), fc.object({ maxDepth: 1 })),
  );
  await fc.assert(
    fc.asyncProperty(request, fc.nat(400), async ([path, body], end) => {
      const sent = JSON.stringify(body).slice(0, end);
      const response = await fetch(server.url(path), { method: "POST", body: sent });
      const answer = (await response.json()) as Record<string, unknown>;
      if (![200, 400, 404, 405, 422].includes(response.status))
        throw new Error(`${path} ${sent}: status ${response.status}: ${JSON.stringify(answer)}`);
      if (response.status !== 200 && answer["detail"] === undefined) throw new Error(JSON.stringify(answer));
    }),
    { numRuns: 10_000, seed: SEED },
  );
  expect(server.sessions.stats.sessions).toBe(0);
  await server.close();
  expect(server.watch.closed).toBe(server.watch.opened);
}, 600_000);

test("1,000 clients that disconnect without a close leave no sessions, tools or timers", async () => {
  const server = await served({ dialects: ["openenv"], leaseMs: 400 });
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const cycle = async (i: number): Promise<void> => {
    const socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
    await socket.reset({ task: "train/1" });
    if (i % 3 === 0) socket.send({ type: "step", data: { type: "call_tool", tool_name: "wait", arguments: {} } });
    if (i % 3 === 1) await socket.close();
    else await socket.lose();
  };
  for (let i = 0; i < 1_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => cycle(i + k)));
  const release = setInterval(() => server.watch.open(), 20);
  await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
  clearInterval(release);
  expect(server.watch.opened).toBe(1_000);
  await until(() => timers() <= before);
  await server.close();
}, 600_000);

test("a client that never reads does not fill the memory of the server", async () => {
  const server = await served({ dialects: ["openenv"] });
  const socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  await socket.reset({ task: "train/1" });
  socket.socket.pause();
  const before = process.memoryUsage().rss;
  const message = JSON.stringify({ type: "state" });
  const long = JSON.stringify({ type: "none", data: "x".repeat(10_000) });
  for (let i = 0; i < 10_000; i++) socket.socket.send(i % 2 === 0 ? message : long);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  // The messages of the client, 50 MB, are in this process too.
  expect(grown).toBeLessThan(300);
  const other = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  expect((await other.reset({ task: "train/1" })).type).toBe("observation");
  socket.socket.resume();
  await Promise.all([socket.lose(), other.close()]);
  await server.close();
}, 60_000);

test("a message above the limit ends its connection only", async () => {
  const server = await served({ dialects: ["openenv"], maxRequestBytes: 1_000 });
  const socket = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  const other = await OpenEnvSocket.connect(server.url("/sums@1/ws"));
  socket.socket.on("error", () => undefined);
  socket.send("x".repeat(2_000));
  const [code] = (await once(socket.socket, "close")) as [number];
  expect(code).toBe(1_009);
  expect((await other.reset({ task: "train/1" })).type).toBe("observation");
  await other.close();
  await server.close();
}, 60_000);

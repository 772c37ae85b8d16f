import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { eventsOf, OrsClient, resultOf } from "./support/ors-client.ts";
import { fuzzOrs } from "./support/fuzz-ors.ts";
import { begin } from "./support/raw.ts";
import { served, until } from "./support/served.ts";

/** Seed of the random choices. FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);

test("10,000 damaged requests get responses of the protocol, and leave the server at work for others", async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  const statuses = await fuzzOrs(SEED, 10_000);
  console.log([...statuses].toSorted().map(([status, count]) => `${status}: ${count}`));
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
}, 600_000);

test("1,000 sessions that end in six ways leave no tools, sessions or timers; the lease ends those without a close", async () => {
  const server = await served({ dialects: ["ors"], leaseMs: 500 });
  const url = (path: string): URL => server.url(path);
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const sessions: OrsClient[] = [];
  const cycle = async (i: number): Promise<void> => {
    const session = new OrsClient(url);
    sessions.push(session);
    expect((await session.create(i)).status).toBe(200);
    const ending = i % 6;
    if (ending === 0) await session.post("/delete");
    else if (ending === 1) await session.call("submit", { text: "0" });
    else if (ending === 2) await session.call("break");
    else if (ending === 3) {
      // A client that disconnects in mid-call and never returns.
      const lost = begin(url("/sums@1/call"), { "x-session-id": session.sid });
      lost.on("error", () => undefined);
      lost.end(JSON.stringify({ name: "wait", input: {} }));
      await once(lost, "response");
      lost.destroy();
    } else if (ending === 4) {
      // A client that never reads.
      const idle = begin(url("/sums@1/call"), { "x-session-id": session.sid });
      idle.on("error", () => undefined);
      idle.end(JSON.stringify({ name: "long", input: {} }));
      const [response] = (await once(idle, "response")) as [IncomingMessage];
      response.pause();
      setTimeout(() => idle.destroy(), 50);
    }
    // The others leave the end to the lease.
  };
  const release = setInterval(() => server.watch.open(), 20);
  for (let i = 0; i < 1_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => cycle(i + k)));
  await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
  clearInterval(release);
  expect([server.watch.opened, server.sessions.stats.opened, server.watch.waiting]).toEqual([1_000, 1_000, 0]);
  // Sessions whose episode is over answer for the time of a lease.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const pings = await Promise.all(sessions.map(async (session) => (await session.post("/ping")).status));
  expect(new Set(pings)).toEqual(new Set([410]));
  await server.close();
  await until(() => timers() <= before);
}, 600_000);

test("500 calls whose clients disconnect and attach again act once each; calls posted twice act twice", async () => {
  const server = await served({ dialects: ["ors"] });
  const url = (path: string): URL => server.url(path);
  const body = { name: "add", input: { a: 20, b: 22 } };
  let calls = 0;
  const play = async (i: number): Promise<void> => {
    const session = new OrsClient(url);
    await session.create(i);
    for (let k = 0; k < 5; k++) {
      const lost = begin(url("/sums@1/call"), { "x-session-id": session.sid });
      lost.on("error", () => undefined);
      lost.end(JSON.stringify(body));
      const [response] = (await once(lost, "response")) as [IncomingMessage];
      const [bytes] = await once(response, "data");
      const task_id = eventsOf(String(bytes))[0]?.data;
      lost.destroy();
      const [one, two] = await Promise.all([
        session.post("/call", { ...body, task_id }),
        session.post("/call", { ...body, task_id }),
      ]);
      expect([resultOf(one.text), resultOf(two.text)]).toMatchObject([
        { output: { blocks: [{ text: "42" }] } },
        { output: { blocks: [{ text: "42" }] } },
      ]);
      calls++;
    }
    // Without an id the server cannot know that a call is repeated: it is the sixth turn, and one after the end.
    const twice = await Promise.all([session.call("add", body.input), session.call("add", body.input)]);
    expect(twice.map(({ output, reason }) => reason ?? output?.finished).toSorted()).toEqual([
      "episode_finished",
      true,
    ]);
    await session.post("/delete");
  };
  for (let i = 0; i < 100; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => play(i + k)));
  expect([calls, server.watch.calls.length]).toEqual([500, 600]);
  await server.close();
}, 600_000);

test("200 clients with a token each, and one id for all, never see another's session", async () => {
  const names = Array.from({ length: 200 }, (_, i) => ({ name: `client-${i}`, token: `token-${i}` }));
  const server = await served({ dialects: ["ors"], tokens: new Tokens(names) });
  const url = (path: string): URL => server.url(path);
  const seen = await Promise.all(
    names.map(async ({ token }, i) => {
      const session = new OrsClient(url, { sid: "shared", headers: { "x-api-key": token } });
      const isFirst = (await session.get("/prompt")).status === 404;
      await session.create(i);
      const { text } = await session.get("/prompt");
      if (i % 2 === 0) await session.post("/delete");
      return [isFirst, text.includes(`${i} + ${i + 1}?`), /canary/.test(text)].join();
    }),
  );
  expect(new Set(seen)).toEqual(new Set(["true,true,false"]));
  expect(server.sessions.stats.sessions).toBe(100);
  await server.close();
}, 600_000);

test("a slow start answers /create after 25 s, then 503 starting, then its error; a slow call sends comments", async () => {
  const server = await served({ dialects: ["ors"] });
  const url = (path: string): URL => server.url(path);
  const playing = new OrsClient(url);
  await playing.create();
  const slow = playing.post("/call", { name: "wait", input: {} });
  // The environment never starts with this seed.
  const starting = new OrsClient(url);
  const begun = performance.now();
  const created = await starting.create(0, {
    split: null,
    index: null,
    task_spec: { split: "train", index: 0, seed: 13 },
  });
  expect([created.status, performance.now() - begun < 30_000]).toEqual([200, true]);
  server.watch.open();
  const { text } = await slow;
  expect(text.split(": waiting\n\n").length).toBe(3);
  expect(resultOf(text)).toMatchObject({ output: { blocks: [{ text: "waited" }] } });
  expect(await starting.get("/prompt")).toMatchObject({
    status: 503,
    headers: { "x-backend-state": "starting", "retry-after": "2" },
  });
  expect(await starting.get("/prompt")).toMatchObject({
    status: 500,
    body: { detail: expect.stringContaining("DEADLINE_EXCEEDED") },
  });
  expect(await starting.post("/delete")).toMatchObject({ status: 200 });
  await server.close();
}, 600_000);

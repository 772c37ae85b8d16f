import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { environmentProto as wire } from "@mrlm/wire";
import { type EnvironmentServer, serveEnvironments as serveInProcess } from "../src/index.ts";
import { serve as serveEnvironments } from "./support/serve.ts";
import { RawClient, type RawStream, resetRequest, shown, stepRequest } from "./support/raw-client.ts";
import { type ScriptedHost, scriptedHost } from "./support/scripted-host.ts";

let host: ScriptedHost;
let server: EnvironmentServer;
let client: RawClient;
let stream: RawStream;

beforeEach(async () => {
  host = scriptedHost();
  server = await serveEnvironments({ host, address: "127.0.0.1:0" });
  client = new RawClient(server.port, "secret");
  stream = client.stream();
});
afterEach(async () => {
  client.close();
  await server.close();
});

const step = (id: Uint8Array, index: number, text = "", epoch = 1) => ({
  $case: "step" as const,
  step: stepRequest(id, epoch, index, text),
});
const reset = (id: Uint8Array, epoch = 1) => ({ $case: "reset" as const, reset: resetRequest(id, epoch) });
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

async function open(count: number): Promise<Buffer[]> {
  const ids = Array.from({ length: count }, () => randomBytes(16));
  ids.forEach((id, i) => stream.send(BigInt(i + 1), reset(id)));
  await stream.received(count);
  stream.answers.length = 0;
  return ids;
}

describe("the multiplexed stream", () => {
  test("answers each request when it is done: a slow session holds up no other", async () => {
    const [slow, quick] = (await open(2)) as [Buffer, Buffer];
    stream.send(10n, step(slow, 0, "wait"));
    stream.send(11n, step(quick, 0));
    expect((await stream.received(1)).map(({ requestId }) => requestId)).toEqual([11n]);
    host.release();
    expect((await stream.received(2)).map(({ requestId }) => requestId)).toEqual([11n, 10n]);
  });

  test("large requests and answers travel in pieces, and small ones pass them", async () => {
    const [large, small] = (await open(2)) as [Buffer, Buffer];
    const size = 5 << 20;
    stream.send(10n, step(large, 0, `large ${size} ${"y".repeat(size)}`));
    stream.send(11n, step(small, 0));
    const [first, second] = await stream.received(2);
    expect(first?.requestId).toBe(11n);
    expect(second?.response?.$case === "step" && shown(second.response.step)?.length).toBe(size);
  });

  test("a cancelled request is aborted, and answered so", async () => {
    const [id] = (await open(1)) as [Buffer];
    stream.send(10n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 1);
    stream.send(10n, undefined, true);
    const [answer] = await stream.received(1);
    expect(answer?.response).toMatchObject({ $case: "error", error: { code: "CANCELLED" } });
    expect(host.aborted).toBe(1);
  });

  test("a request with the id of one under way is refused, and that one is answered and can be cancelled", async () => {
    const [id] = (await open(1)) as [Buffer];
    stream.send(10n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 1);
    stream.send(10n, step(id, 0, "wait"));
    const [refusal] = await stream.received(1);
    expect(refusal?.response).toMatchObject({ $case: "error", error: { code: "MESSAGE_INVALID" } });
    stream.send(10n, undefined, true);
    const [, answer] = await stream.received(2);
    expect(answer?.response).toMatchObject({ $case: "error", error: { code: "CANCELLED" } });
    expect(host.aborted).toBe(1);
  });

  test("a client that sends no more still gets its answers", async () => {
    const [id] = (await open(1)) as [Buffer];
    stream.send(10n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 1);
    stream.call.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    host.release();
    const [answer] = await stream.received(1);
    expect(answer?.response?.$case === "step" && shown(answer.response.step)).toBe("step 0");
    await until(() => server.stats().streams === 0);
  });

  test("a client that comes back finds the answer of the step that was under way, and it was taken once", async () => {
    const [id] = (await open(1)) as [Buffer];
    stream.send(10n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 1);
    stream.call.cancel();
    await until(() => server.stats().streams === 0);
    stream = client.stream();
    stream.send(20n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 2);
    host.release();
    const [answer] = await stream.received(1);
    expect(answer?.response?.$case === "step" && shown(answer.response.step)).toBe("step 0");
    expect([host.steps, host.aborted]).toEqual([1, 0]);
  });

  test("a client that does not come back has its step aborted when the lease ends", async () => {
    const id = randomBytes(16);
    stream.send(1n, { $case: "reset", reset: resetRequest(id, 1, { leaseMs: 200 }) });
    await stream.received(1);
    stream.send(10n, step(id, 0, "wait"));
    await until(() => server.stats().steps === 1);
    stream.call.cancel();
    await until(() => server.stats().sessions === 0);
    expect([host.aborted, host.closed, server.stats().expired]).toEqual([1, 1, 1]);
  });

  test("a client that reads nothing for a while loses nothing", async () => {
    const ids = await open(40);
    stream.call.pause();
    ids.forEach((id, i) => stream.send(BigInt(1000 + i), step(id, 0, `large ${1 << 20}`)));
    await until(() => host.steps === 40);
    // The server buffers more than its limit now: it does not read this request before the client reads.
    stream.send(2000n, step(ids[0] as Buffer, 1));
    stream.call.resume();
    const answers = await stream.received(41);
    expect(
      answers.filter(({ response }) => response?.$case === "step" && shown(response.step)?.length === 1 << 20),
    ).toHaveLength(40);
    expect(answers.some(({ requestId }) => requestId === 2000n)).toBe(true);
  });

  test("a client that reads nothing for a whole lease loses its stream, and finds the responses on its next one", async () => {
    const warned: string[] = [];
    const log = (message: string): void => void warned.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const strict = await serveInProcess({ host, address: "127.0.0.1:0", leaseMs: 3_000, logger });
    const [slow, again] = [new RawClient(strict.port, "slow"), new RawClient(strict.port, "slow")];
    try {
      const ids = Array.from({ length: 20 }, () => randomBytes(16));
      await Promise.all(ids.map((id) => slow.reset(id, 1, { leaseMs: 600_000 })));
      const stalled = slow.stream();
      const ended = stalled.ended();
      stalled.call.pause();
      ids.forEach((id, i) => stalled.send(BigInt(i + 1), step(id, 0, `large ${1 << 20}`)));
      await until(() => warned.length > 0);
      stalled.call.resume();
      expect(await ended).toBe("SERVER_UNAVAILABLE");
      const next = again.stream();
      ids.forEach((id, i) => next.send(BigInt(i + 1), step(id, 0, `large ${1 << 20}`)));
      const answers = await next.received(20);
      expect(answers.every(({ response }) => response?.$case === "step")).toBe(true);
      expect([host.steps, warned]).toEqual([20, [expect.stringContaining("The client read no responses for 3 s")]]);
    } finally {
      slow.close();
      again.close();
      await strict.close();
    }
  });

  test("a session that is reset or closed while it waits for room leaves its place to others", async () => {
    await server.close();
    server = await serveEnvironments({ host, address: "127.0.0.1:0", maxSessions: 1 });
    client.close();
    client = new RawClient(server.port, "secret");
    stream = client.stream();
    const [first, second, third] = [randomBytes(16), randomBytes(16), randomBytes(16)];
    const close = (id: Uint8Array) => ({ $case: "close" as const, close: { sessionId: id } });
    stream.send(1n, reset(first));
    stream.send(2n, reset(second));
    await until(() => server.stats().queued === 1);
    stream.send(3n, reset(second, 2));
    const begun = await stream.received(2);
    begun.sort((a, b) => Number(a.requestId - b.requestId));
    stream.send(4n, close(first));
    await stream.received(4);
    stream.send(5n, step(second, 0, "", 2));
    const kinds = (await stream.received(5)).map(({ requestId, response }) => [requestId, response?.$case]);
    expect(kinds).toEqual([
      [1n, "reset"],
      [2n, "error"],
      [4n, "close"],
      [3n, "reset"],
      [5n, "step"],
    ]);
    stream.send(6n, reset(third));
    await until(() => server.stats().queued === 1);
    // Both closes are in one frame: the free place goes to a session that is closed at the same time.
    stream.send(7n, close(second));
    stream.send(8n, close(third));
    await stream.received(8);
    stream.send(9n, reset(first));
    await stream.received(9);
    expect([server.stats().sessions, host.opened - host.closed]).toEqual([1, 1]);
  });

  test("a server that stops delivers the responses to the requests under way, then ends the stream", async () => {
    const ids = await open(100);
    ids.forEach((id, i) => stream.send(BigInt(i + 1_000), step(id, 0, i % 2 === 0 ? "wait" : `large ${100_000} y`)));
    await until(() => server.stats().steps === 100);
    const ended = new Promise((resolve) => stream.call.once("end", resolve));
    await server.close(1_500);
    await ended;
    const codes = stream.answers.map(({ response }) =>
      response?.$case === "error" ? response.error.code : response?.$case,
    );
    expect(codes.filter((each) => each === "step")).toHaveLength(50);
    expect(codes.filter((each) => each === "SERVER_UNAVAILABLE")).toHaveLength(50);
  });

  test("what is wrong with one request is that request's error", async () => {
    const [id] = (await open(1)) as [Buffer];
    stream.send(10n, undefined);
    stream.call.write(
      Buffer.from(
        wire.MultiplexRequest.encode({
          requests: [
            {
              requestId: 14n,
              request: undefined,
              cancel: false,
              chunk: { data: Buffer.from("garbage"), last: true },
              traceparent: "",
            },
          ],
        }).finish(),
      ),
    );
    stream.send(11n, step(randomBytes(16), 0));
    stream.send(12n, { $case: "renew", renew: { sessionIds: [id, randomBytes(16)] } });
    stream.send(13n, { $case: "close", close: { sessionId: id } });
    const answers = new Map((await stream.received(5)).map(({ requestId, response }) => [requestId, response]));
    for (const malformed of [10n, 14n])
      expect(answers.get(malformed)).toMatchObject({ error: { code: "MESSAGE_INVALID" } });
    expect(answers.get(11n)).toMatchObject({ error: { code: "SESSION_NOT_FOUND", hint: expect.any(String) } });
    expect(answers.get(12n)).toMatchObject({ renew: { gone: [expect.anything()] } });
    expect(answers.get(13n)).toMatchObject({ $case: "close" });
  });

  test("a thousand sessions share frames", async () => {
    const ids = await open(1000);
    ids.forEach((id, i) => stream.send(BigInt(2000 + i), step(id, 0)));
    const answers = await stream.received(1000);
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(1000);
    expect(server.stats()).toMatchObject({ sessions: 1000, streams: 1 });
  });
});

test("the work of a unary call whose client is gone is aborted, unless the call is repeated", async () => {
  const [first, second] = (await open(2)) as [Buffer, Buffer];
  const other = new RawClient(server.port, "secret");
  try {
    for (const id of [first, second]) {
      const waiting = client.step(id, 1, 0, "wait").catch(() => undefined);
      await until(() => server.stats().steps === (id === first ? 1 : 2));
      client.cancel();
      await waiting;
    }
    const repeated = other.step(second, 1, 0, "wait");
    await until(() => host.aborted === 1);
    host.release();
    expect(shown(await repeated)).toBe("step 0");
    expect([host.steps, host.aborted]).toEqual([1, 1]);
  } finally {
    other.close();
  }
});

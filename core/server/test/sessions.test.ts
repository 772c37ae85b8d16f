import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import { ENVIRONMENT_SERVICE } from "@mrlm/wire";
import type { EnvironmentServer } from "../src/index.ts";
import type { ServeEnvironmentsOptions } from "../src/serve-environments.ts";
import { serve as serveEnvironments } from "./support/serve.ts";
import { RawClient, shown } from "./support/raw-client.ts";
import { type ScriptedHost, scriptedHost } from "./support/scripted-host.ts";

let host: ScriptedHost;
let server: EnvironmentServer;
let client: RawClient;
const clients: RawClient[] = [];

async function serve(options: Partial<ServeEnvironmentsOptions> = {}): Promise<void> {
  host = scriptedHost();
  server = await serveEnvironments({ host, address: "127.0.0.1:0", ...options });
  client = connect("secret");
}

function connect(secret?: string): RawClient {
  const made = new RawClient(server.port, secret);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await server.close();
});

const fails = (code: string) => expect.objectContaining({ code });
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe("a session", () => {
  test("acts once on a repeated reset or step, and answers what it answered first", async () => {
    await serve();
    const id = randomBytes(16);
    const resets = await Promise.all([client.reset(id, 1, { seed: 3n }), client.reset(id, 1, { seed: 3n })]);
    expect(resets.map(shown)).toEqual(["seed 3 task undefined", "seed 3 task undefined"]);
    expect(shown(await client.step(id, 1, 0))).toBe("step 0");
    expect(shown(await client.step(id, 1, 0))).toBe("step 0");
    expect(shown(await client.step(id, 1, 1))).toBe("step 1");
    expect([host.opened, host.steps]).toEqual([1, 2]);
    expect(shown(await client.reset(id, 2))).toBe("seed undefined task undefined");
    expect(shown(await client.step(id, 2, 0))).toBe("step 0");
    expect((await client.reset(id, 3)).maxTurns).toBe(9);
  });

  test("repeats a failure as it repeats an answer, and shows nothing of a host's own fault", async () => {
    const logged: string[] = [];
    const log = (_message: string, fields?: object): void => void logged.push(JSON.stringify(fields));
    await serve({ logger: { debug: log, info: log, warn: log, error: log } });
    const id = randomBytes(16);
    await client.reset(id, 1);
    const first = client.step(id, 1, 0, "fail");
    await expect(first).rejects.toEqual(fails("INTERNAL"));
    await expect(first).rejects.not.toThrow(/own words/);
    expect(logged).toEqual([expect.stringContaining("the environment's own words")]);
    await expect(client.step(id, 1, 0, "fail")).rejects.toEqual(fails("INTERNAL"));
    expect(shown(await client.step(id, 1, 1))).toBe("step 0");
  });

  test("refuses epochs and indices that do not come next, malformed ids, and another environment", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    await client.step(id, 1, 0);
    await expect(client.step(id, 1, 2)).rejects.toEqual(fails("STEP_OUT_OF_ORDER"));
    await expect(client.step(id, 2, 0)).rejects.toEqual(fails("STEP_OUT_OF_ORDER"));
    await expect(client.reset(id, 1)).rejects.toEqual(fails("STEP_OUT_OF_ORDER"));
    await expect(client.reset(randomBytes(8), 1)).rejects.toEqual(fails("MESSAGE_INVALID"));
    await expect(client.reset(id, 2, { environment: { id: "other@1", optionsJson: "" } })).rejects.toEqual(
      fails("MESSAGE_INVALID"),
    );
    await expect(client.reset(randomBytes(16), 0)).rejects.toEqual(fails("MESSAGE_INVALID"));
    await expect(client.step(randomBytes(16), 1, 0)).rejects.toEqual(fails("SESSION_NOT_FOUND"));
  });

  test("exists for its owner only", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    for (const stranger of [connect("another secret"), connect()]) {
      await expect(stranger.step(id, 1, 0)).rejects.toEqual(fails("SESSION_NOT_FOUND"));
      await expect(stranger.reset(id, 2)).rejects.toEqual(fails("SESSION_NOT_FOUND"));
      expect((await stranger.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [id] })).gone).toHaveLength(1);
      await stranger.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
    }
    expect(shown(await connect("secret").step(id, 1, 0))).toBe("step 0");
  });

  test("refuses a step while at work; a reset or close aborts the work", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    const waiting = client.step(id, 1, 0, "wait");
    await until(() => server.stats().steps === 1);
    await expect(client.step(id, 1, 1)).rejects.toEqual(fails("SESSION_BUSY"));
    await client.reset(id, 2);
    await expect(waiting).rejects.toEqual(fails("CANCELLED"));
    const again = client.step(id, 2, 0, "wait");
    await until(() => server.stats().steps === 3);
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
    await expect(again).rejects.toEqual(fails("CANCELLED"));
    expect([host.aborted, host.closed, server.stats().sessions]).toEqual([2, 1, 0]);
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
  });

  test("keeps to its caller's deadline", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    await expect(client.step(id, 1, 0, "wait", { deadlineMs: 20 })).rejects.toEqual(fails("DEADLINE_EXCEEDED"));
    expect(host.aborted).toBe(1);
    await client.reset(id, 5);
    const patient = client.step(id, 5, 0, "wait", { deadlineMs: 2 ** 32 - 1 });
    await until(() => server.stats().steps === 2);
    host.release();
    expect(shown(await patient)).toBe("step 0");
  });

  test("that cannot be opened leaves nothing behind, and reports the reason however long it is", async () => {
    await serve();
    host.open = async () =>
      Promise.reject(new MrlmError("OPTIONS_INVALID", `These are wrong: ${"\ud83d\ude00\ud800".repeat(20_000)}`));
    const refused = client.reset(randomBytes(16), 1);
    await expect(refused).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringMatching(/^These are wrong: .*\.\.\.$/u),
    });
    expect([host.opened - host.closed, server.stats().sessions]).toEqual([0, 0]);
  });

  test("ends with its lease, unless it is renewed or at work for a client that waits", async () => {
    await serve();
    const [idle, renewed, busy] = [randomBytes(16), randomBytes(16), randomBytes(16)];
    for (const id of [idle, renewed, busy]) expect((await client.reset(id, 1, { leaseMs: 800 })).leaseMs).toBe(800);
    const waiting = client.step(busy, 1, 0, "wait");
    const renewal = setInterval(() => void client.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [renewed] }), 50);
    await until(() => server.stats().expired > 0);
    await expect(client.step(idle, 1, 0)).rejects.toEqual(fails("SESSION_NOT_FOUND"));
    clearInterval(renewal);
    host.release();
    await waiting;
    expect(shown(await client.step(renewed, 1, 0))).toBe("step 0");
    expect(server.stats()).toMatchObject({ expired: 1, sessions: 2 });
    await until(() => server.stats().sessions === 0);
    expect(host.closed).toBe(3);
  });
});

describe("capacity", () => {
  test("lets resets wait in a bounded queue and refuses the rest with a delay", async () => {
    await serve({ maxSessions: 1, maxQueue: 1 });
    const [first, second, third] = [randomBytes(16), randomBytes(16), randomBytes(16)];
    await client.reset(first, 1);
    const queued = client.reset(second, 1);
    await until(() => server.stats().queued === 1);
    await expect(client.reset(third, 1)).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      isRetryable: true,
      retryDelayMs: expect.any(Number),
    });
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: first });
    await queued;
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: second });
    await client.reset(third, 1);
    expect(host.opened).toBe(3);
  });

  test("is stated with its use, of the server and of each environment", async () => {
    await serve({
      maxSessions: 3,
      maxQueue: 7,
      queueMs: 9_000,
      leaseMs: 8_000,
      maxSessionsByEnvironment: { "counting@1": 1 },
    });
    // The name without a version counts too.
    await client.reset(randomBytes(16), 1, { environment: { id: "counting", optionsJson: "" } });
    client.reset(randomBytes(16), 1).catch(() => undefined);
    await until(() => server.stats().queued === 1);
    const { limits, use, isDraining, environments } = await client.unary(ENVIRONMENT_SERVICE.describe, {
      environment: undefined,
    });
    expect([limits, use, isDraining, environments[0]?.maxSessions, environments[0]?.use]).toEqual([
      { sessions: 3, sessionsPerClient: 2, queue: 7, queueMs: 9_000, leaseMs: 8_000 },
      { sessions: 1, queued: 1 },
      false,
      1,
      { sessions: 1, queued: 1 },
    ]);
  });

  test("refuses a reset that has waited too long", async () => {
    await serve({ maxSessions: 1, queueMs: 50 });
    await client.reset(randomBytes(16), 1);
    await expect(client.reset(randomBytes(16), 1)).rejects.toEqual(fails("RESOURCE_EXHAUSTED"));
    expect(server.stats()).toMatchObject({ sessions: 1, queued: 0 });
  });

  test("forgets a waiting reset that its client closes", async () => {
    await serve({ maxSessions: 1 });
    await client.reset(randomBytes(16), 1);
    const id = randomBytes(16);
    const queued = client.reset(id, 1);
    queued.catch(() => undefined);
    await until(() => server.stats().queued === 1);
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
    await expect(queued).rejects.toEqual(fails("CANCELLED"));
    expect(server.stats()).toMatchObject({ sessions: 1, queued: 0 });
  });
});

describe("the end of a server", () => {
  test("waits for live sessions and opens no new ones", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    const closed = server.close(60_000);
    await expect(client.reset(randomBytes(16), 1)).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      isRetryable: true,
    });
    expect(shown(await client.step(id, 1, 0))).toBe("step 0");
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
    await closed;
    expect(host.closed).toBe(1);
  });

  test("refuses resets that wait for a place, and further episodes of open sessions, at once", async () => {
    await serve({ maxSessions: 1 });
    const id = randomBytes(16);
    await client.reset(id, 1);
    const queued = client.reset(randomBytes(16), 1);
    queued.catch(() => undefined);
    await until(() => server.stats().queued === 1);
    const closed = server.close(60_000);
    await expect(queued).rejects.toEqual(fails("SERVER_UNAVAILABLE"));
    await expect(client.reset(id, 2)).rejects.toEqual(fails("SERVER_UNAVAILABLE"));
    // The response to a reset that was carried out is still given.
    expect(shown(await client.reset(id, 1))).toBe("seed undefined task undefined");
    expect(shown(await client.step(id, 1, 0))).toBe("step 0");
    await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
    await closed;
    expect([host.opened, host.closed]).toEqual([1, 1]);
  });

  test("ends what is left when the grace is over", async () => {
    await serve();
    const id = randomBytes(16);
    await client.reset(id, 1);
    const waiting = client.step(id, 1, 0, "wait");
    waiting.catch(() => undefined);
    await until(() => server.stats().steps === 1);
    await server.close(20);
    await expect(waiting).rejects.toEqual(fails("SERVER_UNAVAILABLE"));
    expect([host.aborted, host.closed]).toEqual([1, 1]);
  });

  test("a taken port is named", async () => {
    await serve();
    const error = await serveEnvironments({ host, address: `127.0.0.1:${server.port}` }).catch((each: Error) => each);
    // The error of gRPC would repeat the message in longer words.
    expect((error as Error).cause).toBeUndefined();
    expect(error).toMatchObject({
      code: "PORT_IN_USE",
      message: expect.stringContaining(`Port ${server.port} `),
    });
    await expect(serveEnvironments({ host, address: "256.0.0.1:0" })).rejects.toEqual(fails("CONFIG_INVALID"));
  });
});

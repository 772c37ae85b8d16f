import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { randomToken } from "@mrlm/process";
import { Assembler, ENVIRONMENT_SERVICE, FRAME_BYTES, HEALTH_SERVICE, environmentProto as wire } from "@mrlm/wire";
import { type EnvironmentServer, serveEnvironments } from "../src/index.ts";
import type { ServeEnvironmentsOptions } from "../src/serve-environments.ts";
import { reflectionMethods } from "../src/standard/reflection.ts";
import { fuzzFrames } from "./support/fuzz-frames.ts";
import { fuzzUnary } from "./support/fuzz-unary.ts";
import { sendTooMuch } from "./support/too-large.ts";
import { RawClient, type RawStream, resetRequest, shown, stepRequest } from "./support/raw-client.ts";
import { type ScriptedHost, scriptedHost } from "./support/scripted-host.ts";

let host: ScriptedHost;
let server: EnvironmentServer;
const clients: RawClient[] = [];

async function serve(options: Partial<ServeEnvironmentsOptions> = {}): Promise<void> {
  host = scriptedHost();
  server = await serveEnvironments({ host, address: "127.0.0.1:0", ...options });
}

function connect(secret?: string, metadata: Readonly<Record<string, string>> = {}): RawClient {
  const made = new RawClient(server.port, secret, metadata);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await server.close();
});

const fails = (code: string) => expect.objectContaining({ code });
const chunk = (requestId: bigint, data: Uint8Array, last = false) => ({
  requestId,
  request: undefined,
  cancel: false,
  chunk: { data, last },
  traceparent: "",
});
const send = (stream: RawStream, requests: readonly wire.SessionRequest[]): void =>
  stream.write(wire.MultiplexRequest.encode({ requests: [...requests] }).finish());
const codesOf = (stream: RawStream): Set<string | undefined> =>
  new Set(stream.answers.map(({ response }) => (response?.$case === "error" ? response.error.code : response?.$case)));
/** Checks that a session of another client works. */
async function works(client = connect("bystander")): Promise<void> {
  const id = randomBytes(16);
  await client.reset(id, 1);
  expect(shown(await client.step(id, 1, 0))).toBe("step 0");
  await client.unary(ENVIRONMENT_SERVICE.close, { sessionId: id });
}

describe("S5: memory that a client makes a server hold", () => {
  test("requests that are begun and never ended are refused beyond a number, empty pieces at once", async () => {
    await serve();
    const stream = connect("attacker").stream();
    send(
      stream,
      Array.from({ length: 1_000 }, (_, i) => chunk(BigInt(i + 1), Buffer.of(1))),
    );
    await stream.received(1_000 - Assembler.MAX_UNFINISHED);
    expect(codesOf(stream)).toEqual(new Set(["RESOURCE_EXHAUSTED"]));
    stream.answers.length = 0;
    send(
      stream,
      Array.from({ length: 1_000 }, (_, i) => chunk(BigInt(i + 2_000), Buffer.of())),
    );
    await stream.received(1_000);
    expect(codesOf(stream)).toEqual(new Set(["MESSAGE_INVALID"]));
    await works();
  });

  test("a frame above 1 MiB, or of garbage, ends its stream and no other", async () => {
    await serve();
    const renew = { sessionIds: Array<Uint8Array>(60_000).fill(randomBytes(16)) };
    const request: wire.SessionRequest = {
      ...chunk(1n, Buffer.of()),
      request: { $case: "renew", renew },
      chunk: undefined,
    };
    const large = wire.MultiplexRequest.encode({ requests: [request] }).finish();
    expect(large.length).toBeGreaterThan(FRAME_BYTES);
    for (const frame of [large, Buffer.from("garbage"), Buffer.alloc(100, 0xff)]) {
      const stream = connect("attacker").stream();
      const ended = stream.ended();
      stream.write(frame);
      expect(await ended).toBe("MESSAGE_INVALID");
    }
    await works();
  });

  test("a step that is repeated under ever new numbers waits a bounded number of times", async () => {
    await serve();
    const stream = connect("attacker").stream();
    const id = randomBytes(16);
    stream.send(1n, { $case: "reset", reset: resetRequest(id, 1) });
    await stream.received(1);
    stream.answers.length = 0;
    const step = stepRequest(id, 1, 0, "wait");
    const repeated = Array.from({ length: 20_000 }, (_, i) => ({
      requestId: BigInt(i + 2),
      request: { $case: "step" as const, step },
      cancel: false,
      chunk: undefined,
      traceparent: "",
    }));
    for (let i = 0; i < repeated.length; i += 5_000) send(stream, repeated.slice(i, i + 5_000));
    await stream.received(20_000 - 16_384);
    expect(codesOf(stream)).toEqual(new Set(["RESOURCE_EXHAUSTED"]));
    host.release();
    await stream.received(20_000);
    expect(host.steps).toBe(1);
  });

  test("resets that abort each other do not queue without end", async () => {
    await serve();
    const stream = connect("attacker").stream();
    const id = randomBytes(16);
    const gate = Promise.withResolvers<void>();
    const { open } = host;
    host.open = async (ref) => (await gate.promise, open(ref));
    const resets = Array.from({ length: 100 }, (_, i) => ({
      requestId: BigInt(i + 1),
      request: { $case: "reset" as const, reset: resetRequest(id, i + 1) },
      cancel: false,
      chunk: undefined,
      traceparent: "",
    }));
    send(stream, resets);
    // One opens the environment, and 16 wait.
    await stream.received(100 - 17);
    expect(codesOf(stream)).toContain("SESSION_BUSY");
    gate.resolve();
    await stream.received(100);
    expect(host.opened).toBe(1);
  });

  test("watches, which need no token, are limited", async () => {
    await serve({ tokens: Tokens.of("secret") });
    const attackers = Array.from({ length: 11 }, () => connect());
    const watches = Array.from({ length: 1_100 }, (_, i) =>
      (attackers[i % 11] as RawClient).serverStream(HEALTH_SERVICE.watch, { service: "" }),
    );
    const codes = await Promise.all(
      watches.map(
        (watch) =>
          new Promise((resolve) =>
            watch.once("error", (error) => resolve((error as { code?: number }).code)).once("data", () => resolve(0)),
          ),
      ),
    );
    expect([codes.filter((code) => code === 0).length, codes.filter((code) => code === 8).length]).toEqual([1_024, 76]);
  });

  test("reflection reads no further question while its answers are not read", () => {
    const call = Object.assign(new EventEmitter(), {
      write: () => false,
      pause: jest.fn(),
      resume: jest.fn(),
      end: () => undefined,
    });
    reflectionMethods([]).serverReflectionInfo(
      call as unknown as Parameters<ReturnType<typeof reflectionMethods>["serverReflectionInfo"]>[0],
    );
    call.emit("data", { host: "", messageRequest: { $case: "listServices", listServices: "" } });
    expect([call.pause.mock.calls.length, call.resume.mock.calls.length]).toEqual([1, 0]);
    call.emit("drain");
    expect(call.resume.mock.calls).toHaveLength(1);
  });

  test.each([
    ["a name of an environment", { environment: { id: "x".repeat(5_000), optionsJson: "" } }],
    ["the name of a task", { task: "x".repeat(5_000) }],
    [
      "options of 2 MiB",
      { environment: { id: "counting@1", optionsJson: JSON.stringify({ key: "x".repeat(2 << 20) }) } },
    ],
    [
      "options that are nested 200,000 deep",
      { environment: { id: "counting@1", optionsJson: `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}` } },
    ],
    [
      "U8: options of 20,000 keys",
      {
        environment: {
          id: "counting@1",
          optionsJson: JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1]))),
        },
      },
    ],
    [
      "U8: options of a list with 20,000 numbers",
      {
        environment: {
          id: "counting@1",
          optionsJson: JSON.stringify({ list: Array.from({ length: 20_000 }, () => 1) }),
        },
      },
    ],
  ])("%s is refused, and nothing is logged", async (_, extra) => {
    const logged: string[] = [];
    const log = (message: string): void => void logged.push(message);
    await serve({ logger: { debug: log, info: log, warn: log, error: log } });
    const refused = connect("attacker").reset(randomBytes(16), 1, extra);
    await expect(refused).rejects.toEqual(fails("MESSAGE_INVALID"));
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringMatching(/.{2000}/s) });
    expect([logged, server.stats().sessions]).toEqual([[], 0]);
  });
});

describe("U8: work that one request asks for", () => {
  const optionsJson = JSON.stringify({ list: Array.from({ length: 20_000 }, () => 1) });
  const environment = { id: "counting@1", optionsJson };

  test("too many options are refused by descriptions and demonstrations too", async () => {
    await serve({ demonstrations: true });
    const client = connect("attacker");
    for (const refused of [
      client.unary(ENVIRONMENT_SERVICE.describe, { environment }),
      client.unary(ENVIRONMENT_SERVICE.demonstrate, { environment, tasks: ["train/0"] }),
    ])
      await expect(refused).rejects.toEqual(fails("MESSAGE_INVALID"));
    await works();
  });

  test("a renewal of 70,000 sessions is refused", async () => {
    await serve();
    const sessionIds = Array.from({ length: 70_000 }, () => randomBytes(16));
    const client = connect("attacker");
    await expect(client.unary(ENVIRONMENT_SERVICE.renew, { sessionIds })).rejects.toEqual(fails("MESSAGE_INVALID"));
    const stream = client.stream();
    stream.send(1n, { $case: "renew", renew: { sessionIds } });
    await stream.received(1);
    expect(codesOf(stream)).toEqual(new Set(["MESSAGE_INVALID"]));
    await works();
  });
});

describe("S1: tokens", () => {
  const describeWith = (headers: Readonly<Record<string, string>>) =>
    connect(undefined, headers).unary(ENVIRONMENT_SERVICE.describe, { environment: undefined });

  test.each([
    ["none", {}],
    ["an empty one", { authorization: "Bearer " }],
    ["another scheme", { authorization: `Basic ${"a".repeat(64)}` }],
    ["its beginning", { authorization: `Bearer ${"a".repeat(63)}` }],
    ["more than it", { authorization: `Bearer ${"a".repeat(65)}` }],
    ["other letter case", { authorization: `Bearer ${"A".repeat(64)}` }],
    ["the token without its scheme", { authorization: "a".repeat(64) }],
    [
      "the token under another name",
      { "x-authorization": `Bearer ${"a".repeat(64)}`, token: "a".repeat(64), "mrlm-client": "a".repeat(64) },
    ],
    ["a token of 6,000 characters", { authorization: `Bearer ${"a".repeat(6_000)}` }],
  ])("a call with %s is refused, on every method and stream", async (_, headers) => {
    await serve({ tokens: Tokens.of("a".repeat(64)), demonstrations: true });
    await expect(describeWith(headers)).rejects.toEqual(fails("UNAUTHENTICATED"));
    const client = connect("secret", headers);
    const environment = { id: "counting@1", optionsJson: "" };
    for (const refused of [
      client.reset(randomBytes(16), 1),
      client.step(randomBytes(16), 1, 0),
      client.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [] }),
      client.unary(ENVIRONMENT_SERVICE.demonstrate, { environment, tasks: [] }),
    ])
      await expect(refused).rejects.toEqual(fails("UNAUTHENTICATED"));
    expect(await client.stream().ended()).toBe("UNAUTHENTICATED");
    expect(server.stats()).toMatchObject({ sessions: 0, streams: 0, resets: 0, steps: 0 });
    await works(connect("bystander", { authorization: `Bearer ${"a".repeat(64)}` }));
  });

  test("the token of one run opens no server of another", async () => {
    const [first, second] = [randomToken(), randomToken()];
    await serve({ tokens: Tokens.of(first) });
    await expect(describeWith({ authorization: `Bearer ${second}` })).rejects.toEqual(fails("UNAUTHENTICATED"));
    await expect(describeWith({ authorization: `Bearer ${first}` })).resolves.toMatchObject({
      environments: [{ id: "counting@1" }],
    });
  });

  test("metadata of a megabyte is refused, and the server continues", async () => {
    await serve({ tokens: Tokens.of("secret") });
    const metadata = Object.fromEntries(Array.from({ length: 128 }, (_, i) => [`x-${i}`, "y".repeat(8_000)]));
    await expect(
      connect(undefined, { authorization: "Bearer secret", ...metadata }).unary(ENVIRONMENT_SERVICE.describe, {
        environment: undefined,
      }),
    ).rejects.toBeInstanceOf(Error);
    await works(connect("bystander", { authorization: "Bearer secret" }));
  });
});

describe("S6, S7: demonstrations", () => {
  const environment = { id: "counting@1", optionsJson: "" };
  const demonstrate = (tasks: string[]) => connect().unary(ENVIRONMENT_SERVICE.demonstrate, { environment, tasks });

  test("S7: are refused unless the operator gives them, and then not offered", async () => {
    await serve();
    host.describe = async () => ({ ...(await scriptedHost().describe({ id: "counting@1" })), hasDemonstrations: true });
    await expect(demonstrate(["train/0"])).rejects.toMatchObject({
      code: "DEMONSTRATION_REFUSED",
      hint: expect.stringContaining("--demonstrations"),
    });
    const described = await connect().unary(ENVIRONMENT_SERVICE.describe, { environment });
    expect(described.environments[0]?.hasDemonstrations).toBe(false);
  });

  test("S6: of more tasks than a client asks for at once are refused; a client that is gone ends the work", async () => {
    await serve({ demonstrations: true });
    await expect(demonstrate(Array.from({ length: 60_000 }, (_, i) => `train/${i}`))).rejects.toEqual(
      fails("MESSAGE_INVALID"),
    );
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<unknown>();
    host.demonstrate = async (_ref, _tasks, { signal } = {}) => {
      begin();
      return new Promise((_, reject) =>
        signal?.addEventListener("abort", () => (abort(signal.reason), reject(signal.reason))),
      );
    };
    const client = connect();
    client.unary(ENVIRONMENT_SERVICE.demonstrate, { environment, tasks: ["train/0"] }).catch(() => undefined);
    await begun;
    client.cancel();
    expect(await aborted).toMatchObject({ code: "CANCELLED" });
  });
});

test("S5: a request of one byte more than the limit is refused, and its stream continues", async () => {
  await serve({ maxMessageBytes: 2 << 20 });
  expect(await sendTooMuch(connect("attacker"), 2 << 20)).toEqual(["MESSAGE_INVALID", "renew", 8]);
  await works();
});

test("S5: damaged frames and unary requests end in errors of the request or of the stream, never in a fault of the server", async () => {
  // afterEach closes a server.
  await serve();
  expect(await fuzzFrames(1, 60)).toBeGreaterThan(60);
  expect(await fuzzUnary(1, 30)).toBeGreaterThan(30);
});

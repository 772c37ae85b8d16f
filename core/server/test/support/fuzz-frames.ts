import { ENVIRONMENT_SERVICE, environmentProto as wire } from "@mrlm/wire";
import fc from "fast-check";
import { serve } from "./serve.ts";
import { RawClient, resetRequest, shown, stepRequest } from "./raw-client.ts";
import { scriptedHost } from "./scripted-host.ts";

type Request = wire.SessionRequest;

const id = fc.bigInt(1n, 6n);
/** Sessions 0 to 2, and ids that are too short or too long. */
const session = fc
  .integer({ min: 0, max: 5 })
  .map((number) => Buffer.alloc([16, 16, 16, 0, 15, 17][number] ?? 0, number));
const small = fc.integer({ min: 0, max: 3 });
/** Epochs and indices. */
const count = fc.oneof({ weight: 9, arbitrary: small }, { weight: 1, arbitrary: fc.constant(2 ** 32 - 1) });
const options = fc.constantFrom(
  "",
  "{}",
  "[]",
  "{",
  `{"__proto__":1}`,
  "[".repeat(2_000),
  JSON.stringify("x".repeat(3_000)),
);
/** Request of a session. */
export const request: fc.Arbitrary<Request["request"]> = fc.oneof(
  fc
    .record({
      session,
      epoch: count,
      options,
      task: fc.constantFrom("", "train/0", "constructor/0", "x".repeat(2_000)),
    })
    .map(({ session: sessionId, epoch, options: optionsJson, task }) => ({
      $case: "reset" as const,
      reset: resetRequest(sessionId, epoch, { task, environment: { id: "counting@1", optionsJson } }),
    })),
  fc.record({ session, epoch: count, index: count }).map(({ session: sessionId, epoch, index }) => ({
    $case: "step" as const,
    step: stepRequest(sessionId, epoch, index, "x"),
  })),
  session.map((sessionId) => ({ $case: "close" as const, close: { sessionId } })),
  fc.array(session, { maxLength: 3 }).map((sessionIds) => ({ $case: "renew" as const, renew: { sessionIds } })),
  fc.constant(undefined),
);
const whole: fc.Arbitrary<Request> = fc.record({
  requestId: id,
  request,
  cancel: fc.boolean(),
  chunk: fc.constant(undefined),
  traceparent: fc.string({ maxLength: 80 }),
});
const data = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  whole.map((each) => wire.SessionRequest.encode(each).finish()),
  fc.tuple(whole, small).map(([each, end]) =>
    wire.SessionRequest.encode(each)
      .finish()
      .subarray(0, 4 * end),
  ),
);
const piece: fc.Arbitrary<Request> = fc.record({
  requestId: id,
  request: fc.constant(undefined),
  cancel: fc.constant(false),
  chunk: fc.record({ data, last: fc.boolean() }),
  traceparent: fc.constant(""),
});
const frame = fc
  .array(fc.oneof(whole, piece), { maxLength: 8 })
  .map((requests) => wire.MultiplexRequest.encode({ requests }).finish());
/** Frame that is intact, has a changed byte, is cut, or has random bytes. */
const damaged = fc.oneof(
  { weight: 5, arbitrary: frame },
  {
    weight: 1,
    arbitrary: fc
      .tuple(frame, fc.nat(), fc.nat(255))
      .map(([bytes, at, byte]) => (bytes.length === 0 ? bytes : bytes.with(at % bytes.length, byte))),
  },
  { weight: 1, arbitrary: fc.tuple(frame, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
);

/** Sequences on one connection: nghttp2 ends a connection after 1,000 reset streams and 33 more each second, and each sequence resets one. */
const SEQUENCES_PER_CONNECTION = 500;
const SENTINEL = 1_000_000n;
export const EXPECTED = new Set([
  "MESSAGE_INVALID",
  "SESSION_NOT_FOUND",
  "STEP_OUT_OF_ORDER",
  "SESSION_BUSY",
  "CANCELLED",
  "EPISODE_ENDED",
  "RESOURCE_EXHAUSTED",
]);

/** Sends sequences of damaged frames, each on a separate stream. Throws after the first sequence that gets an unexpected response. @returns the number of frames */
export async function fuzzFrames(seed: number, numRuns: number): Promise<number> {
  const logged: string[] = [];
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const server = await serve({
    host: scriptedHost(),
    address: "127.0.0.1:0",
    logger: { debug: log, info: log, warn: log, error: log },
  });
  let client = new RawClient(server.port, "attacker");
  const bystander = new RawClient(server.port, "bystander");
  let sent = 0;
  let steps = 0;
  const own = Buffer.alloc(16, 9);
  try {
    await bystander.reset(own, 1);
    await fc.assert(
      fc.asyncProperty(fc.array(damaged, { minLength: 1, maxLength: 10, size: "max" }), async (sequence) => {
        if (steps % SEQUENCES_PER_CONNECTION === 0) {
          client.close();
          client = new RawClient(server.port, "attacker");
        }
        const stream = client.stream();
        const ended = stream.ended();
        for (const bytes of sequence) stream.write(bytes);
        sent += sequence.length;
        stream.send(SENTINEL, { $case: "renew", renew: { sessionIds: [] } });
        const last = async (): Promise<undefined> => {
          while (!stream.answers.some(({ requestId }) => requestId === SENTINEL))
            await stream.received(stream.answers.length + 1);
        };
        const code = await Promise.race([ended, last()]);
        stream.call.cancel();
        const codes = stream.answers.flatMap(({ response }) =>
          response?.$case === "error" ? [response.error.code] : [],
        );
        const unexpected = [...codes, ...(code === undefined ? [] : [code])].filter((each) => !EXPECTED.has(each));
        if (unexpected.length > 0) throw new Error(`unexpected codes: ${unexpected.join(", ")}`);
        if (logged.length > 0) throw new Error(`logged: ${logged.join("; ")}`);
        const answered = shown(await bystander.step(own, 1, steps));
        if (answered !== `step ${steps}`) throw new Error(`another session was answered ${answered}`);
        steps++;
      }),
      { seed, numRuns },
    );
    await bystander.unary(ENVIRONMENT_SERVICE.close, { sessionId: own });
    return sent;
  } finally {
    client.close();
    bystander.close();
    await server.close();
  }
}

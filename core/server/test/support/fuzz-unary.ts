import { ENVIRONMENT_SERVICE, environmentProto as wire } from "@mrlm/wire";
import { MrlmError } from "@mrlm/spec";
import fc from "fast-check";
import { serve } from "./serve.ts";
import { EXPECTED, request } from "./fuzz-frames.ts";
import { RawClient, shown } from "./raw-client.ts";
import { scriptedHost } from "./scripted-host.ts";

const { describe, reset, step, close, renew, demonstrate } = ENVIRONMENT_SERVICE;
const METHODS = [describe, reset, step, close, renew, demonstrate].map(({ path }) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
  requestDeserialize: (bytes: Buffer) => bytes,
  responseSerialize: (bytes: Buffer) => bytes,
  responseDeserialize: (bytes: Buffer) => bytes,
}));

/** Bytes of a request without its envelope. */
const whole = request.map((each) => {
  switch (each?.$case) {
    case "reset":
      return wire.ResetRequest.encode(each.reset).finish();
    case "step":
      return wire.StepRequest.encode(each.step).finish();
    case "close":
      return wire.CloseRequest.encode(each.close).finish();
    case "renew":
      return wire.RenewRequest.encode(each.renew).finish();
    default:
      return new Uint8Array();
  }
});
const bytes = fc.oneof(
  whole,
  fc
    .tuple(whole, fc.nat(), fc.nat(255))
    .map(([each, at, byte]) => (each.length === 0 ? each : Uint8Array.from(each).with(at % each.length, byte))),
  fc.tuple(whole, fc.nat()).map(([each, at]) => each.subarray(0, at % (each.length + 1))),
  fc.uint8Array({ maxLength: 64 }),
);
const call = fc.record({ method: fc.constantFrom(...METHODS), bytes });
/** Errors of whole requests with unknown names, in addition to those of sessions. */
const ALSO_EXPECTED = ["ENVIRONMENT_NOT_FOUND", "DEMONSTRATION_REFUSED", "OPTIONS_INVALID"];

/** Sends unary calls with damaged requests, some at the same time. Throws after the first unexpected response. @returns the number of calls */
export async function fuzzUnary(seed: number, numRuns: number): Promise<number> {
  const logged: string[] = [];
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const server = await serve({
    host: scriptedHost(),
    address: "127.0.0.1:0",
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const [client, bystander] = [new RawClient(server.port, "attacker"), new RawClient(server.port, "bystander")];
  const own = Buffer.alloc(16, 9);
  let sent = 0;
  let steps = 0;
  try {
    await bystander.reset(own, 1);
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 10, size: "max" }), async (calls) => {
        sent += calls.length;
        const codes = await Promise.all(
          calls.map(async (each) =>
            client.unary(each.method, each.bytes).then(
              () => "OK",
              (error: unknown) => (MrlmError.isInstance(error) ? error.code : String(error)),
            ),
          ),
        );
        const unexpected = codes.filter(
          (code) => code !== "OK" && !EXPECTED.has(code) && !ALSO_EXPECTED.includes(code),
        );
        if (unexpected.length > 0) throw new Error(`unexpected codes: ${unexpected.join(", ")}`);
        if (logged.length > 0) throw new Error(`logged: ${logged.join("; ")}`);
        const answered = shown(await bystander.step(own, 1, steps));
        if (answered !== `step ${steps}`) throw new Error(`another session was answered ${answered}`);
        steps++;
      }),
      { seed, numRuns },
    );
    return sent;
  } finally {
    client.close();
    bystander.close();
    await server.close();
  }
}

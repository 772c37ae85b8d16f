import { randomBytes } from "node:crypto";
import { type Measure, MeasuredProcess } from "./measured-process.ts";
import { RawClient, resetRequest, shown, stepRequest } from "./raw-client.ts";

const environment = { id: "letters@1", optionsJson: "" };
const LEASE_MS = 4_000;

/** Measures of a server with a client that reads nothing. */
export interface SlowRead {
  readonly before: Measure;
  /** With every response pending, and more steps of another client since. */
  readonly pending: Measure;
  /** After the leases of its sessions, and the time that it has to read. */
  readonly expired: Measure;
  /** Code with which the stream has ended when the client reads again. */
  readonly code: string;
}

/** Makes a client request responses of this size and read none of them until its leases have ended, while another client steps its session. */
export async function stopReading(responses: number, bytes: number): Promise<SlowRead> {
  const server = await MeasuredProcess.start({ maxSessions: 4 * responses, leaseMs: LEASE_MS });
  const [slow, other] = [new RawClient(server.port, "slow"), new RawClient(server.port, "other")];
  try {
    const own = randomBytes(16);
    await other.reset(own, 1, { environment, leaseMs: 600_000 });
    let index = 0;
    const steps = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const text = shown(await other.step(own, 1, index++, "send 1000"));
        if (text?.length !== 1_000) throw new Error(`another client got ${text}`);
      }
    };
    const stream = slow.stream();
    const ids = Array.from({ length: responses }, () => randomBytes(16));
    ids.forEach((id, i) =>
      stream.send(BigInt(i + 1), { $case: "reset", reset: resetRequest(id, 1, { environment, leaseMs: LEASE_MS }) }),
    );
    await stream.received(responses);
    stream.answers.length = 0;
    const before = await server.measure();
    const ended = stream.ended();
    stream.call.pause();
    ids.forEach((id, i) =>
      stream.send(BigInt(responses + i + 1), { $case: "step", step: stepRequest(id, 1, 0, `send ${bytes}`) }),
    );
    const requested = before.stats.steps + responses;
    while ((await server.measure()).stats.steps < requested + index) await steps(20);
    await steps(100);
    const pending = await server.measure();
    const isFree = ({ heapUsed, external }: Measure) =>
      heapUsed + external < before.heapUsed + before.external + (responses * bytes) / 10;
    const expired = await server.until((measured) => measured.environments === 1 && isFree(measured));
    await steps(20);
    stream.call.resume();
    const code = await ended;
    return { before, pending, expired, code };
  } finally {
    slow.close();
    other.close();
    await server.end();
  }
}

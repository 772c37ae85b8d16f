import { randomBytes } from "node:crypto";
import { type Measure, MeasuredProcess } from "./measured-process.ts";
import { RawClient, resetRequest, stepRequest } from "./raw-client.ts";

const environment = { id: "letters@1", optionsJson: "" };
/** A round of thousands of sessions opens within less than this on a slow machine. */
const LEASE_MS = 4_000;

/** Memory of a server without sessions: after a first, smaller round, and after each round. */
export interface Abandonment {
  readonly before: Measure;
  readonly after: readonly Measure[];
}

/**
 * Opens sessions and abandons them, in rounds: a third of the clients end their connections between calls, a third during a step, and a third stay connected
 * without a request. Waits after each round until the server has closed every environment.
 */
export async function abandonSessions(sessions: number, rounds: number, leaseMs = LEASE_MS): Promise<Abandonment> {
  const server = await MeasuredProcess.start({ maxSessions: sessions, maxSessionsPerClient: sessions });
  const closed = () => server.until(({ environments, stats }) => environments === 0 && stats.sessions === 0);
  try {
    const before = await abandon(server, { sessions: Math.min(sessions, 1_000), leaseMs }, closed);
    const after: Measure[] = [];
    for (let i = 0; i < rounds; i++) after.push(await abandon(server, { sessions, leaseMs }, closed));
    return { before, after };
  } finally {
    await server.end();
  }
}

async function abandon(
  server: MeasuredProcess,
  { sessions, leaseMs }: { readonly sessions: number; readonly leaseMs: number },
  closed: () => Promise<Measure>,
): Promise<Measure> {
  const kinds = ["between calls", "during a step", "connected"] as const;
  const clients = await Promise.all(
    kinds.map(async (kind, index) => {
      const client = new RawClient(server.port, kind);
      const stream = client.stream();
      const count = Math.floor((sessions + index) / kinds.length);
      const ids = Array.from({ length: count }, () => randomBytes(16));
      ids.forEach((id, i) =>
        stream.send(BigInt(i + 1), {
          $case: "reset",
          reset: resetRequest(id, 1, { environment, leaseMs }),
        }),
      );
      await stream.received(count);
      const opened = stream.answers.filter(({ response }) => response?.$case === "reset").length;
      if (opened < count) throw new Error(`${count - opened} of ${count} sessions were refused`);
      const text = kind === "during a step" ? "wait" : "send 1000";
      ids.forEach((id, i) => stream.send(BigInt(count + i + 1), { $case: "step", step: stepRequest(id, 1, 0, text) }));
      if (kind === "during a step") stream.send(0n, { $case: "renew", renew: { sessionIds: [] } });
      await stream.received(kind === "during a step" ? count + 1 : 2 * count);
      return { kind, end: () => (stream.call.cancel(), client.close()) };
    }),
  );
  for (const { kind, end } of clients) if (kind !== "connected") end();
  await closed();
  for (const { end } of clients) end();
  return server.until(({ stats: { streams } }) => streams === 0);
}

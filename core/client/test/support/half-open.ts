import { expect } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { connectEnvironments } from "../../src/index.ts";
import { countingPlugin } from "./counting-plugin.ts";
import { forkWorkers } from "./forked-workers.ts";
import { fragileProxy } from "./fragile-proxy.ts";

const KEEPALIVE_MS = 150;
const LEASE_MS = 300;
const never = new AbortController().signal;
const act = (text: string) =>
  ({ agent: "agent", message: textMessage("assistant", text), finishReason: "stop" }) as const;

/**
 * Lets connections become half-open, which neither side is informed of, while a step is under way and while a session is idle. Checks
 * that each side ends them: the server closes the sessions, and the client repeats its call on a new connection.
 */
export async function playHalfOpen(transport: "stream" | "unary", workerCount = 0): Promise<void> {
  const workers = workerCount === 0 ? undefined : await forkWorkers(workerCount);
  const server = await serveEnvironments({
    host: workers?.host ?? new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    ...(workers && { workers }),
    address: "127.0.0.1:0",
    keepaliveMs: KEEPALIVE_MS,
  });
  const proxy = await fragileProxy(server.port);
  // The silent client never ends its connection; the other one finds that it is dead.
  const silent = await connectEnvironments(`127.0.0.1:${proxy.port}`, { transport, leaseMs: LEASE_MS });
  try {
    const [idle, busy] = [await silent.open({ id: "counting" }), await silent.open({ id: "counting" })];
    await Promise.all([idle, busy].map((session) => session.reset({ signal: never })));
    const lost = busy.step(act("wait 600000"), { signal: never });
    lost.catch(() => undefined);
    await until(() => server.stats().steps === 1);
    proxy.freeze();
    await until(() => server.stats().streams === 0 && server.stats().sessions === 0);
    expect(server.stats().expired).toBe(2);

    const watchful = await connectEnvironments(`127.0.0.1:${proxy.port}`, { transport, keepaliveMs: KEEPALIVE_MS });
    const session = await watchful.open({ id: "counting" });
    await session.reset({ signal: never });
    const step = session.step(act("wait 200"), { signal: never });
    await until(() => server.stats().steps === 2);
    proxy.freeze();
    const { observation } = await step;
    expect(observation.messages[0]?.parts[0]).toMatchObject({ text: "step 0" });
    await watchful.close();
  } finally {
    proxy.close();
    await Promise.all([silent.close(), server.close()]);
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within 60 s: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

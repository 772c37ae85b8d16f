import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { inProcess, overGrpc, type Transport } from "@mrlm/testing";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentContext, score } from "@mrlm/spec";
import { serveByWorker } from "./support/serve-by-worker.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00";
const { signal } = new AbortController();
const act = { agent: "agent", message: textMessage("assistant", "x".repeat(300_000)), finishReason: "stop" } as const;

/** Environment that shows the trace of each call. */
const create = (context: EnvironmentContext) => ({
  reset: async () => observe([textMessage("user", String(context.trace))]),
  step: async () => {
    await new Promise(setImmediate);
    return singleStep({ messages: [textMessage("user", String(context.trace))], reward: score(1) });
  },
});
const plugin = definePlugin({
  name: "tracing",
  environments: [{ id: "tracing@1", description: "Shows traces.", determinism: "full", roles: { agent: {} }, create }],
});

/** Returns a transport to a server that forwards to a worker. */
function byWorker(transport: "stream" | "unary"): Transport {
  return async (local) => {
    const server = await serveByWorker({ host: local, address: "127.0.0.1:0" });
    const host = await connectEnvironments(`127.0.0.1:${server.port}`, { transport });
    return {
      ...(await inProcess(host)),
      async close() {
        await host.close();
        await server.close();
      },
    };
  };
}

test.each<[string, Transport]>([
  ["in process", inProcess],
  ["over a stream", overGrpc()],
  ["over unary calls", overGrpc({ transport: "unary" })],
  ["over a stream, to a worker", byWorker("stream")],
  ["over unary calls, to a worker", byWorker("unary")],
])("%s a call carries the trace of its caller to the environment; a malformed one is ignored", async (_, transport) => {
  const local = new LocalHost({ source: await PluginHost.of([plugin]) });
  const host = await transport(local);
  const session = await host.open({ id: "tracing" });
  const shown = async (trace?: string): Promise<string[]> => {
    const options = { signal, ...(trace !== undefined && { trace }) };
    const first = await session.reset(options);
    const { observation } = await session.step(act, options);
    return [first, observation].map(({ messages }) => JSON.stringify(messages[0]?.parts));
  };
  const twice = (text: string): string[] => [text, text].map((each) => JSON.stringify([{ type: "text", text: each }]));
  expect(await shown(TRACE)).toEqual(twice(TRACE));
  expect(await shown(OTHER)).toEqual(twice(OTHER));
  expect(await shown()).toEqual(twice("undefined"));
  expect(await shown(`cc${TRACE.slice(2)}-later`)).toEqual(twice(TRACE));
  for (const malformed of [`00-${"0".repeat(32)}-b7ad6b7169203331-01`, `${TRACE}-x`, `ff${TRACE.slice(2)}`, "CANARY"])
    expect(await shown(malformed)).toEqual(twice("undefined"));
  await session.close();
  await host.close();
  await local.close();
});

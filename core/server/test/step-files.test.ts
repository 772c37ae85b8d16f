import { Session as Inspector } from "node:inspector/promises";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import type { Action, EnvironmentDefinition } from "@mrlm/spec";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments, type ServeEnvironmentsOptions } from "../src/index.ts";
import { serveByWorker } from "./support/serve-by-worker.ts";

// Files whose functions run between the socket and the environment, in both directions. Each file more is one that a reader
// of a step has to open: a change that adds one states why.

const SESSIONS = [
  "core/runtime/src/host/phase-beacon.ts",
  "core/runtime/src/host/phase-clock.ts",
  "core/runtime/src/host/session-judgements.ts",
  "core/runtime/src/host/session-tools.ts",
  "core/runtime/src/host/session.ts",
  "core/runtime/src/host/step-check.ts",
  "core/runtime/src/host/validate-result.ts",
  "core/server/src/service/request-stream.ts",
  "core/server/src/service/session-requests.ts",
  "core/server/src/sessions/call-context.ts",
  "core/server/src/sessions/hosted-session.ts",
  "core/server/src/sessions/operation.ts",
  "core/server/src/sessions/server-metrics.ts",
  "core/server/src/sessions/session-table.ts",
  "core/server/src/sessions/sessions.ts",
  "core/wire/src/environment/messages.ts",
  "core/wire/src/environment/turns.ts",
  "core/wire/src/grpc/method.ts",
  "core/wire/src/grpc/serialise.ts",
  "core/wire/src/json.ts",
  "core/wire/src/multiplex/inbox.ts",
  "core/wire/src/multiplex/outbox.ts",
];
const WORKERS = [
  "core/server/src/workers/forwarded-client.ts",
  "core/server/src/workers/framed-stream.ts",
  "core/server/src/workers/routed-sessions.ts",
  "core/wire/src/multiplex/envelope.ts",
];
/** Steps that are measured. A timer can run during one of them. */
const STEPS = 16;

const echo: EnvironmentDefinition = {
  id: "echo@1",
  description: "Returns an observation.",
  determinism: "full",
  create: () => ({
    reset: async () => observe([textMessage("user", "Act.")]),
    step: async () =>
      singleStep({ messages: [textMessage("user", "Act.")], reward: { scored: true, value: 1, components: {} } }),
  }),
};
const action: Action = { agent: "agent", message: textMessage("assistant", "x"), finishReason: "stop" };
const { signal } = new AbortController();

/** Returns the files of the server's packages that have run during each of some steps. */
async function filesOfStep(
  serve: (options: ServeEnvironmentsOptions) => Promise<EnvironmentServer>,
): Promise<string[]> {
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [echo] })]);
  const server = await serve({ host: new LocalHost({ source }), address: "127.0.0.1:0" });
  const client = await connectEnvironments(`127.0.0.1:${server.port}`);
  const inspector = new Inspector();
  inspector.connect();
  try {
    const session = await client.open({ id: "echo@1" });
    await session.reset({ signal });
    await session.step(action, { signal });
    await inspector.post("Profiler.enable");
    await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    const counts = new Map<string, number>();
    for (let step = 0; step < STEPS; step++) {
      await inspector.post("Profiler.takePreciseCoverage");
      await session.step(action, { signal });
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      const { result } = await inspector.post("Profiler.takePreciseCoverage");
      for (const { url, functions } of result) {
        const file = /\/(core\/(?:runtime|server|wire)\/src\/(?!gen\/).*)$/.exec(url)?.[1];
        const hasRun = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
        if (file !== undefined && hasRun) counts.set(file, (counts.get(file) ?? 0) + 1);
      }
    }
    return [...counts].filter(([, count]) => count === STEPS).map(([file]) => file);
  } finally {
    inspector.disconnect();
    await client.close();
    await server.close();
  }
}

test("a step passes 22 files in the process of the server, and 26 with workers", async () => {
  expect((await filesOfStep(serveEnvironments)).sort()).toEqual(SESSIONS);
  expect((await filesOfStep(serveByWorker)).sort()).toEqual([...SESSIONS, ...WORKERS].sort());
});

import { readFileSync } from "node:fs";
import { Session as Inspector } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import type { Action, EnvironmentDefinition } from "@mrlm/spec";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "../src/index.ts";
import type { ServeEnvironmentsOptions } from "../src/serve-environments.ts";
import { serveByWorker } from "./support/serve-by-worker.ts";

// Files whose functions run between the socket and the environment, in both directions. Each file more is one that a reader
// of a step has to open: a change that adds one states why.

const page = readFileSync(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
const server = listBelow("A step on a server");
const workers = listBelow("With workers");
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
  const running = await serve({ host: new LocalHost({ source }), address: "127.0.0.1:0" });
  const client = await connectEnvironments(`127.0.0.1:${running.port}`);
  const inspector = new Inspector();
  inspector.connect();
  try {
    const session = await client.open({ id: "echo@1" });
    await session.reset({ signal });
    await session.step(action, { signal });
    await inspector.post("Profiler.enable");
    await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    /** Returns the functions that have run since the last call, as `FILE NAME OFFSET`. */
    const haveRun = async (): Promise<string[]> => {
      const { result } = await inspector.post("Profiler.takePreciseCoverage");
      return result.flatMap(({ url, functions }) => {
        const file = /\/(core\/(?:runtime|server|wire)\/src\/(?!gen\/).*)$/.exec(url)?.[1];
        const run = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
        return file === undefined
          ? []
          : run.map(({ functionName, ranges }) => `${file} ${functionName} ${ranges[0]?.startOffset}`);
      });
    };
    const counts = new Map<string, number>();
    let longestMs = 0;
    for (let step = 0; step < STEPS; step++) {
      await haveRun();
      const began = performance.now();
      await session.step(action, { signal });
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      longestMs = Math.max(longestMs, performance.now() - began);
      for (const each of await haveRun()) counts.set(each, (counts.get(each) ?? 0) + 1);
    }
    // On a loaded machine a step can be longer than the period of a timer, which then runs during each of them.
    await delay(2 * longestMs);
    const byTimers = new Set(await haveRun());
    const ofSteps = [...counts].flatMap(([each, count]) => (count === STEPS && !byTimers.has(each) ? [each] : []));
    return [...new Set(ofSteps.map((each) => each.split(" ", 1)[0] as string))];
  } finally {
    inspector.disconnect();
    await client.close();
    await running.close();
  }
}

test("a step passes the files of docs/architecture.md, in the process of the server and with workers", async () => {
  const all = [...server.files, ...workers.files];
  expect([server.files.length, all.length]).toEqual([server.count, workers.count]);
  expect((await filesOfStep(serveEnvironments)).sort()).toEqual(server.files.toSorted());
  expect((await filesOfStep(serveByWorker)).sort()).toEqual(all.toSorted());
});

/** Returns the stated number of files and the list below a heading. */
function listBelow(heading: string): { readonly count: number; readonly files: readonly string[] } {
  const [, count, text = ""] =
    new RegExp(`^#+ ${heading}\n+\\*\\*(\\d+) files\\*\\*([^]*?)(?=^#)`, "m").exec(page) ?? [];
  return { count: Number(count), files: Array.from(text.matchAll(/^\d+\. `([^`]+)`/gm), ([, file]) => file as string) };
}

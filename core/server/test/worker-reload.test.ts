import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import {
  type EnvironmentServer,
  serveEnvironments,
  startWorkers,
  type WorkerPool,
  type WorkerProcess,
} from "../src/index.ts";
import type { StartWorker } from "../src/workers/environment-worker.ts";
import { RawClient } from "./support/raw-client.ts";
import { scriptedHost } from "./support/scripted-host.ts";
import { localWorkers } from "./support/serve-by-worker.ts";

/** Version that workers load when they start. */
let present: StartWorker;
let started: WorkerProcess[] = [];
let errors: string[] = [];
let workers: WorkerPool;
let server: EnvironmentServer;
let client: RawClient;
const removers: (() => void)[] = [];

function version(host: EnvironmentHost): StartWorker {
  const start = localWorkers({ host });
  removers.push(start.remove);
  return start;
}

/** Host whose episodes do not begin. */
function brokenHost(): EnvironmentHost {
  const host = scriptedHost();
  return {
    ...host,
    async open(ref) {
      return { ...(await host.open(ref)), reset: () => Promise.reject(new MrlmError("ENVIRONMENT_FAILED", "broken")) };
    },
  };
}

async function serve(count: number): Promise<void> {
  [started, errors] = [[], []];
  const start: StartWorker = (name) => {
    const worker = present(name);
    started.push(worker);
    return worker;
  };
  const logger = { ...silentLogger, error: (message: string) => void errors.push(message) };
  workers = await startWorkers({ count, start, logger });
  server = await serveEnvironments({ host: workers.host, workers, address: "127.0.0.1:0" });
  client = new RawClient(server.port, "secret");
}
afterEach(async () => {
  client.close();
  await server.close();
  for (const remove of removers.splice(0)) remove();
});

test("once a new version is active, no session begins with the one before, while other workers start", async () => {
  const [before, after] = [scriptedHost(), scriptedHost()];
  present = version(before);
  await serve(3);
  const next = version(after);
  let waits = 0;
  // The second worker of the new version does not become ready.
  present = (name) => {
    const worker = next(name);
    return name === "worker 1" ? worker : { ...worker, channel: { ...worker.channel, onMessage: () => () => waits++ } };
  };
  const reload = workers.reload(1_000);
  while (started.length < 5) await sleep(5);
  // One episode of the new version was its check.
  for (let i = 0; i < 6; i++) await client.reset(randomBytes(16), 1);
  expect([before.opened, after.opened]).toEqual([0, 7]);
  // A server that stops starts no more workers, and reports none of those that it ends.
  await server.close();
  await reload;
  expect([started.length, errors]).toEqual([5, []]);
});

test("a version that failed its check does not replace a worker that ends; the next good one does", async () => {
  const good = scriptedHost();
  present = version(good);
  await serve(2);
  present = version(brokenHost());
  await expect(workers.reload(1_000)).rejects.toThrow("broken");
  started[0]?.kill();
  while (errors.length < 2) await sleep(10);
  expect(errors.every((line) => /^worker 1 could not be started again: .*broken/.test(line))).toBe(true);
  for (let i = 0; i < 4; i++) await client.reset(randomBytes(16), 1);
  expect([good.opened, workers.processes.length]).toEqual([4, 1]);
  present = version(good);
  await workers.reload(1_000);
  expect(workers.processes).toHaveLength(2);
});

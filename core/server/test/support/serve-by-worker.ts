import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localChannel } from "@mrlm/process";
import {
  type EnvironmentServer,
  serveEnvironments,
  serveWorker,
  startWorkers,
  type WorkerEnd,
} from "../../src/index.ts";
import type { ServeEnvironmentsOptions } from "../../src/serve-environments.ts";
import type { StartWorker } from "../../src/workers/environment-worker.ts";

/** Starts workers that are no processes, for tests of what is forwarded. They copy messages as processes do. */
export function localWorkers(options: Omit<ServeEnvironmentsOptions, "address">): StartWorker & { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-local-worker-"));
  let count = 0;
  const start: StartWorker = () => {
    const link = { path: join(folder, `${++count}.sock`), token: randomBytes(8).toString("hex") };
    const {
      ends: [parent, worker],
      close,
    } = localChannel();
    const ended = Promise.withResolvers<WorkerEnd>();
    void serveWorker({ ...options, channel: worker, link }).then(() => ended.resolve({ exitCode: 0, signal: null }));
    return {
      pid: process.pid,
      link,
      channel: parent,
      ended: ended.promise,
      kill() {
        ended.resolve({ exitCode: null, signal: "SIGKILL" });
        // It must not keep the process of the test alive.
        close();
      },
    };
  };
  return Object.assign(start, { remove: () => rmSync(folder, { recursive: true, force: true }) });
}

/** Serves environments by one such worker. */
export async function serveByWorker(options: ServeEnvironmentsOptions): Promise<EnvironmentServer> {
  const start = localWorkers(options);
  const workers = await startWorkers({ ...options, count: 1, start });
  const server = await serveEnvironments({ ...options, host: workers.host, workers }).catch(async (error: unknown) => {
    await workers.stop(0);
    throw error;
  });
  return {
    ...server,
    async close(graceMs) {
      await server.close(graceMs);
      start.remove();
    },
  };
}

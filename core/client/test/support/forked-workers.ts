import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processChannel } from "@mrlm/process";
import { startWorkers, type WorkerPool } from "@mrlm/server";

/** Starts processes that host the environments of tests. Their sockets are removed when this process ends. */
export function forkWorkers(count: number): Promise<WorkerPool> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-counting-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  let started = 0;
  return startWorkers({
    count,
    start() {
      const link = { path: join(folder, `${++started}.sock`), token: randomBytes(8).toString("hex") };
      const child = fork(new URL("./counting-worker.ts", import.meta.url), [JSON.stringify(link)], {
        execArgv: ["--conditions=mrlm-source"],
        serialization: "advanced",
      });
      return {
        pid: child.pid as number,
        link,
        channel: processChannel(child),
        ended: new Promise((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))),
        kill: () => void child.kill("SIGKILL"),
      };
    },
  });
}

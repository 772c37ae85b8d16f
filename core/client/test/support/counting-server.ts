// Server in its own process: `node counting-server.ts PORT WORKERS`. It sends its port to the parent process.
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type StartWorker, serveEnvironments, startWorkers } from "@mrlm/server";
import { chainPlugin } from "./chain-plugin.ts";
import { countingPlugin } from "./counting-plugin.ts";
import { channelOver } from "./process-channel.ts";

const [port = "0", count = "0"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "mrlm-counting-"));
let started = 0;
const start: StartWorker = () => {
  const link = { path: join(folder, `${++started}.sock`), token: randomBytes(8).toString("hex") };
  const child = fork(new URL("./counting-worker.ts", import.meta.url), [JSON.stringify(link)], {
    execArgv: ["--conditions=mrlm-source"],
    serialization: "advanced",
  });
  return {
    pid: child.pid as number,
    link,
    channel: channelOver(child),
    ended: new Promise((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))),
    kill: () => void child.kill("SIGKILL"),
  };
};
const workers = count === "0" ? undefined : await startWorkers({ count: Number(count), start });
const host = workers?.host ?? new LocalHost({ source: await PluginHost.of([countingPlugin, chainPlugin]) });
const server = await serveEnvironments({ host, ...(workers && { workers }), address: `127.0.0.1:${port}` });
process.send?.(server.port);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("disconnect", () => process.exit());

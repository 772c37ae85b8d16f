/**
 * npm run soak:server [-- --minutes 20]: two workers under load while workers and clients are killed and plugins are swapped. The last line is a JSON object with the growth of the
 * resident memory of the server process after a quarter of the time, which is the warm-up.
 */
import { type ChildProcess, fork } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { childrenOf } from "../../process-tree.ts";
import { memoryMib, serveOurs } from "../processes.ts";
import { median } from "../statistics.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "20" } } });

const CLIENTS = 4;
/** A worker that ends five times within a minute is withdrawn. */
const PERIOD_MS = { worker: 20_000, swap: 45_000, client: 5_000, sample: 1_000 };
const LIMIT = 1.1;

const server = await serveOurs("--workers", "2", "--reload");
const end = performance.now() + 60_000 * Number(values.minutes);
const warmUp = performance.now() + 15_000 * Number(values.minutes);
const counts = { workers_killed: 0, plugins_swapped: 0, clients_killed: 0, steps: 0, client_failures: 0 };
const samples: { readonly at: number; readonly mib: number }[] = [];
const clients = Array.from({ length: CLIENTS }, startClient);

await Promise.all([
  every(PERIOD_MS.sample, () => void samples.push({ at: performance.now(), mib: memoryMib(server.pid) })),
  every(PERIOD_MS.worker, () => {
    const workers = childrenOf(server.pid);
    const victim = workers[Math.floor(Math.random() * workers.length)];
    if (victim === undefined) return;
    process.kill(victim, "SIGKILL");
    counts.workers_killed++;
  }),
  every(PERIOD_MS.swap, () => {
    process.kill(server.pid, "SIGHUP");
    counts.plugins_swapped++;
  }),
  every(PERIOD_MS.client, () => {
    const index = Math.floor(Math.random() * CLIENTS);
    clients[index]?.kill("SIGKILL");
    clients[index] = startClient();
    counts.clients_killed++;
  }),
]);
for (const client of clients) client.kill("SIGKILL");
await server.stop();

const after = samples.filter(({ at }) => at >= warmUp).map(({ mib }) => mib);
const quarter = Math.ceil(after.length / 4);
const growth = median(after.slice(-quarter)) / median(after.slice(0, quarter));
console.log(
  JSON.stringify({
    bench: "server-soak",
    machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load: loadavg()[0] },
    figures: { minutes: Number(values.minutes), server_rss_growth: Number(growth.toFixed(3)), ...counts },
  }),
);
if (growth > LIMIT || counts.client_failures > 0 || counts.steps === 0) process.exitCode = 1;

function startClient(): ChildProcess {
  const client = fork(new URL("client.ts", import.meta.url), [String(server.port)], { execArgv: process.execArgv });
  client.on("message", (steps: number) => (counts.steps += steps));
  client.on("exit", (code) => {
    if (code !== null) counts.client_failures++;
  });
  return client;
}

async function every(milliseconds: number, work: () => void): Promise<void> {
  for (;;) {
    await sleep(Math.min(milliseconds, Math.max(0, end - performance.now())));
    if (performance.now() >= end) return;
    work();
  }
}

/**
 * npm run bench -- server [--json] [--only NAMES] [--systems NAMES] [--sessions NUMBERS] [--rounds N] [--seconds N]: `mrlm serve` with a plugin, against OpenEnv with the same echo and against a bare
 * stream of grpc-js. The parts of --only: steps, live, churn, workers.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { locateEngine } from "@mrlm/engine-torch";
import { loadedMachine, printFigures } from "../figures.ts";
import { churnFigures } from "./churn.ts";
import { liveFigures } from "./live.ts";
import { openEnvPython, serveBareEcho, serveOpenEnv, serveOurs, type ServerProcess } from "./processes.ts";
import { openBareEcho, openOpenEnv, openOurs, type System } from "./systems.ts";
import { interleaved } from "./throughput.ts";
import { workerFigures } from "./workers.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", default: "steps,live,churn,workers" },
    systems: { type: "string", default: "ours,echo,openenv,openenv_async" },
    sessions: { type: "string", default: "1,64,256,1024" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    live: { type: "string", default: "20000" },
    "full-speed": { type: "string", default: "60" },
  },
});

/** Limit of OpenEnv's server, as high as ours. */
const MAX_SESSIONS = 4096;

const load = loadavg()[0] as number;
const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));
const take = (found: Readonly<Record<string, number>>): void =>
  Object.entries(found).forEach(([name, value]) => put(name, value));
const timing = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const parts: Readonly<Record<string, () => Promise<void>>> = {
  steps,
  live: async () => take(await liveFigures(Number(values.live), Number(values["full-speed"]))),
  churn: async () => take(await churnFigures(5)),
  workers: async () => take(await workerFigures(timing)),
};
for (const name of values.only.split(",")) {
  const part = parts[name];
  if (part === undefined) throw new Error(`--only takes ${Object.keys(parts).join(", ")}, not ${name}.`);
  await part();
}
if (!values.json) console.table(figures);
printFigures("server", loadedMachine(load), figures);

async function steps(): Promise<void> {
  const names = values.systems.split(",");
  const running: ServerProcess[] = [];
  const system = (
    name: System["name"],
    server: ServerProcess,
    open: (port: number, count: number) => ReturnType<System["open"]>,
  ): System => {
    running.push(server);
    return { name, pid: server.pid, open: (count) => open(server.port, count) };
  };
  const systems: System[] = [];
  if (names.includes("ours"))
    systems.push(system("", await serveOurs("--workers", "0"), (port, count) => openOurs(port, count)));
  if (names.includes("echo")) systems.push(system("echo", await serveBareEcho(), openBareEcho));
  for (const kind of ["sync", "async"] as const) {
    const name = kind === "sync" ? "openenv" : "openenv_async";
    if (!names.includes(name)) continue;
    const engine = await locateEngine();
    if (engine === undefined) throw new Error("The engine's Python is missing. Run `npx mrlm engine setup`.");
    const server = await serveOpenEnv(openEnvPython(engine.executable), kind, MAX_SESSIONS);
    systems.push(system(name, server, openOpenEnv));
  }
  const counts = values.sessions.split(",").map(Number);
  try {
    const measured = await interleaved(systems, counts, timing);
    const rows: object[] = [];
    for (const [{ name }, byCount] of measured) {
      const prefix = name === "" ? "" : `${name}_`;
      for (const [count, { stepsPerSecond, p50Ms, clientCpu, serverCpu }] of byCount) {
        put(`${prefix}steps_per_s_${count}`, stepsPerSecond);
        if (count === 1) put(`${prefix}p50_ms`, p50Ms);
        rows.push({
          server: name === "" ? "mrlm serve" : name,
          sessions: count,
          "steps per s": Math.round(stepsPerSecond),
          "client CPU, us": Number(clientCpu.toFixed(1)),
          "server CPU, us": Number(serverCpu.toFixed(1)),
        });
      }
    }
    if (values.json) console.error(rows);
    else console.table(rows);
  } finally {
    await Promise.all(running.map((server) => server.stop()));
  }
}

/**
 * npm run bench -- dialects [--json] [--sessions NUMBERS] [--rounds N] [--seconds N]: steps a second of the dialect OpenEnv against OpenEnv's own server, by the same client,
 * calls a second of the dialect ORS, programs a second of /run_code, and the tests of `npm run test:interop` that pass. A skipped one has not passed.
 */
import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { locateEngine } from "@mrlm/engine-torch";
import { loadedMachine, printFigures } from "../figures.ts";
import { openEnvPython, serveOpenEnv, serveOurHttp } from "../server/processes.ts";
import { testStatuses } from "../jest-report.ts";
import { openOpenEnv, type System } from "../server/systems.ts";
import { interleaved } from "../server/throughput.ts";
import { openOrs, openRunCode } from "./systems.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    sessions: { type: "string", default: "64,256,1024" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
  },
});

/** Limit of OpenEnv's server, as high as ours. */
const MAX_SESSIONS = 4096;
const ORS_SESSIONS = 64;
/** Programs of /run_code at the same time. */
const PROGRAMS = 8;

const load = loadavg()[0] as number;
const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));
const timing = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const counts = values.sessions.split(",").map(Number);

const engine = await locateEngine();
if (engine === undefined) throw new Error("The engine's Python is missing. Run `npx mrlm engine setup`.");
const ours = await serveOurHttp("--workers", "0", "--dialects", "openenv,ors,sandbox-fusion");
const peer = await serveOpenEnv(openEnvPython(engine.executable), "sync", MAX_SESSIONS);
try {
  const dialect: System = {
    name: "",
    pid: ours.pid,
    open: (count) => openOpenEnv(ours.port, count, "message"),
  };
  const openenv: System = { name: "openenv", pid: peer.pid, open: (count) => openOpenEnv(peer.port, count) };
  const measured = await interleaved([dialect, openenv], counts, timing);
  for (const [{ name }, byCount] of measured)
    for (const [count, { stepsPerSecond }] of byCount)
      put(`${name === "" ? "openenv_dialect" : name}_steps_per_s_${count}`, stepsPerSecond);
  const others = { ors_calls_per_s: [openOrs, ORS_SESSIONS], run_code_per_s: [openRunCode, PROGRAMS] } as const;
  for (const [figure, [open, count]] of Object.entries(others)) {
    const system: System = { name: "", pid: ours.pid, open: (sessions) => open(ours.port, Math.min(sessions, count)) };
    const found = await interleaved([system], [count], timing);
    put(figure, found.get(system)?.get(count)?.stepsPerSecond ?? Number.NaN);
  }
} finally {
  await Promise.all([ours.stop(), peer.stop()]);
}
const root = fileURLToPath(new URL("../..", import.meta.url));
spawnSync("npm", ["run", "test:interop"], { cwd: root, stdio: ["ignore", 2, 2] });
const statuses = [...testStatuses().values()];
figures["clients_passed"] = statuses.filter((status) => status === "passed").length;
figures["clients_total"] = statuses.length;
if (!values.json) console.table(figures);
printFigures("dialects", loadedMachine(load), figures);

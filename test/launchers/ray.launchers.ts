// npm run test:launchers: the launcher of Ray on real clusters of this machine, in a virtual environment that is made once.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Launcher, PartEvent, RunPart } from "@mrlm/spec/host";
import { launcherContract } from "@mrlm/testing";
import { PluginHost } from "@mrlm/runtime";
import { installed } from "../e2e/support/engine.ts";
import { freePort } from "../../benchmarks/ports/free-port.ts";
import { isAlive, ROOT, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { interpreterOf } from "../interop/support/peer-python.ts";
import { beginLaunch, launchConfig, runIn, startedPids } from "./support/launched-run.ts";

/** Longest time until the end of processes on a lost machine, in milliseconds. */
const LOST_MS = 30_000;
// The test's clusters are reached from this machine only.
Object.assign(process.env, { RAY_AUTH_MODE: "disabled", RAY_USAGE_STATS_ENABLED: "0" });

const found = await interpreterOf({ folder: "test/launchers/ray" });
const python = "python" in found ? found.python : "";
const ray = join(dirname(python), "ray");
const plugins = await PluginHost.discover({ directory: ROOT });
const launcher = async (options: object): Promise<Launcher> => {
  const definition = await plugins.launcher("ray");
  return await definition.create({ python, ...options });
};

/** A process that starts another one, in a group of its own, and prints both ids. */
const PAIR = `const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { detached: true, stdio: "ignore" });
console.log(process.pid + " " + child.pid); setInterval(() => 0, 1000)`;

/** Returns the process of Ray that manages a machine of this test's cluster. */
function rayletOf(port: number): number {
  const pid = readdirSync("/proc").find((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return words[0]?.endsWith("raylet") === true && words.some((word) => word === `--node_manager_port=${port}`);
    } catch {
      return false;
    }
  });
  return Number(pid);
}

const suite = "reason" in found ? describe.skip : describe;
suite(`the launcher of Ray${"reason" in found ? ` (${found.reason})` : ""}`, () => {
  const directory = temporaryDirectory();

  launcherContract({ name: "launcher:ray", make: () => launcher({ cpus: 4 }), timeoutMs: 120_000 });

  (installed === undefined ? test.skip : test)(
    "a pipelined run with Ray has the weights of one with the local launcher",
    async () => {
      const weights: string[] = [];
      for (const use of [{ use: "local" }, { use: "ray", python, cpus: 4 }]) {
        const output = join(directory, use.use);
        const finished = await beginLaunch(await launchConfig(directory, use, 40), output).finished;
        expect(finished).toMatchObject({ code: 0 });
        const pids = startedPids(finished);
        expect(pids).toHaveLength(5);
        expect(pids.filter(isAlive)).toEqual([]);
        expect(finished.stderr).toMatch(/rollouts-[01]: \S+ plays for /);
        weights.push(outcomeOf(runIn(output)).weights);
      }
      expect(weights[1]).toBe(weights[0]);
    },
    300_000,
  );

  test("no process survives ray.kill of its actor", async () => {
    const args = [join(ROOT, "test/launchers/ray/kill.py"), join(ROOT, "plugins/launcher-ray/python")];
    const { stdout } = await promisify(execFile)(python, [...args, process.execPath, "-e", PAIR], {
      env: process.env,
      timeout: 120_000,
    });
    const result = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { left: unknown; seconds: number };
    process.stderr.write(`ray.kill: both processes ended after ${result.seconds.toFixed(1)} s\n`);
    expect(result.left).toEqual([]);
  }, 180_000);

  describe("a cluster of two machines", () => {
    let address = "";
    const nodePort = { n2: 0 };
    beforeAll(async () => {
      const port = await freePort();
      nodePort.n2 = await freePort();
      address = `127.0.0.1:${port}`;
      const start = (...args: string[]): Buffer =>
        execFileSync(ray, ["start", "--disable-usage-stats", "--object-store-memory", "80000000", ...args], {
          env: process.env,
          stdio: ["ignore", "pipe", "pipe"],
        });
      start("--head", "--port", String(port), "--num-cpus", "1", "--node-name", "n1", "--include-dashboard", "false");
      start("--address", address, "--num-cpus", "4", "--node-name", "n2", "--node-manager-port", String(nodePort.n2));
    }, 120_000);
    // The clusters of other tests have ended: this one alone was started by `ray start`.
    afterAll(() => void execFileSync(ray, ["stop", "--force"], { env: process.env, stdio: "ignore" }), 60_000);

    test("a killed machine ends its processes, with its name, within 30 s", async () => {
      const own = await launcher({ address });
      const events: PartEvent[] = [];
      const part = (cpus: number): RunPart => ({
        ...{ kind: "rollouts", count: 1, cpus },
        command: [process.execPath, "-e", PAIR],
      });
      try {
        await own.start([part(1), part(3)], (event) => void events.push(event));
        const lines = (): string[] => events.flatMap((event) => (event.kind === "output" ? [event.line] : []));
        while (lines().length < 2) await delay(20);
        const onSecond = events.find((event) => event.kind === "output" && event.process.node === "n2");
        const pids = (onSecond as { line: string }).line.split(" ").map(Number);
        expect(pids.filter(isAlive)).toHaveLength(2);
        const began = performance.now();
        process.kill(rayletOf(nodePort.n2), "SIGKILL");
        let ended: PartEvent | undefined;
        while (ended === undefined && performance.now() - began < LOST_MS) {
          await delay(50);
          ended = events.find(({ kind }) => kind === "ended");
        }
        const seconds = (performance.now() - began) / 1000;
        process.stderr.write(`a killed machine: reported after ${seconds.toFixed(1)} s\n`);
        expect(ended).toMatchObject({ process: { node: "n2" }, cause: { kind: "node_lost", node: "n2" } });
        while (pids.some(isAlive) && performance.now() - began < LOST_MS) await delay(50);
        expect(pids.filter(isAlive)).toEqual([]);
        await expect(own.start([part(3)], () => undefined)).rejects.toMatchObject({ code: "LAUNCHER_FAILED" });
      } finally {
        await own.stop(5_000);
      }
    }, 180_000);
  });

  test("a machine without such a Python, and a cluster that does not exist, are refused with a reason", async () => {
    await expect(launcher({ python: "/no/such/python" })).rejects.toMatchObject({
      code: "LAUNCHER_UNAVAILABLE",
      message: expect.stringContaining("/no/such/python does not start"),
    });
    await expect(launcher({ address: `127.0.0.1:${await freePort()}` })).rejects.toMatchObject({
      code: "LAUNCHER_UNAVAILABLE",
      message: expect.stringContaining("nothing answers at 127.0.0.1:"),
    });
  }, 60_000);

  test("mrlm launch names the missing package", async () => {
    const config = await launchConfig(directory, { use: "ray", python: "python3" }, 1);
    const { code, stderr } = await run(["launch", "--config", config, "--output", join(directory, "none")], {
      PYTHONPATH: "",
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("No module named 'ray'")]);
  }, 60_000);
});

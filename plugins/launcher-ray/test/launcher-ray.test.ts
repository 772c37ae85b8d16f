// The driver and the guards are real processes; a module in place of Ray has the part of its interface that the driver uses. test/launchers has the tests with Ray.
import { afterAll, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Launcher, PartEvent, RunPart } from "@mrlm/spec/host";
import { launcherContract } from "@mrlm/testing";
import { openDriver } from "../src/driver.ts";
import { RayLauncher } from "../src/ray-launcher.ts";

const python = process.env["MRLM_TEST_PYTHON"] ?? "python3";
const hasPython = (() => {
  try {
    execFileSync(python, ["-c", "import sys; assert sys.version_info >= (3, 10)"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const scratch = mkdtempSync(join(tmpdir(), "mrlm-ray-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Opens a launcher with the module in place of Ray. */
async function open(env: Readonly<Record<string, string>> = {}) {
  Object.assign(process.env, {
    PYTHONPATH: fileURLToPath(new URL("./support/fake", import.meta.url)),
    ...{ FAKE_RAY_NODES: "n1", FAKE_RAY_DEAD: "" },
    ...env,
  });
  const driver = await openDriver({ python });
  return { driver, launcher: new RayLauncher(driver) };
}

const sleeper: RunPart = {
  kind: "rollouts",
  count: 1,
  command: [process.execPath, "-e", "console.log('up'); setInterval(() => 0, 1000)"],
};

/** Starts two processes, and returns their events when both have printed. */
async function startTwo(launcher: Launcher): Promise<{ events: PartEvent[]; ended(count: number): Promise<void> }> {
  const events: PartEvent[] = [];
  const until = async (kind: string, count: number): Promise<void> => {
    while (events.filter((event) => event.kind === kind).length < count) await delay(10);
  };
  await launcher.start([{ ...sleeper, count: 2 }], (event) => void events.push(event));
  await until("output", 2);
  return { events, ended: (count) => until("ended", count) };
}

(hasPython ? describe : describe.skip)("launcher:ray (skipped without Python 3.10)", () => {
  launcherContract({ name: "launcher:ray", make: async () => (await open()).launcher });

  test("a lost machine ends its processes, with its name, and no other", async () => {
    const dead = join(scratch, "dead");
    const { launcher } = await open({ FAKE_RAY_NODES: "n1,n2", FAKE_RAY_DEAD: dead });
    const { events, ended } = await startTwo(launcher);
    writeFileSync(dead, "n2");
    await ended(1);
    const [first] = events.filter(({ kind }) => kind === "ended");
    expect(first).toMatchObject({ process: { node: "n2" }, cause: { kind: "node_lost", node: "n2" } });
    await launcher.stop(2_000);
    const [, second] = events.filter(({ kind }) => kind === "ended");
    expect(second).toMatchObject({ process: { node: "n1" }, cause: { kind: "signal", signal: "SIGTERM" } });
  });

  test("a killed driver ends all processes", async () => {
    const { driver, launcher } = await open();
    const { events, ended } = await startTwo(launcher);
    driver.kill();
    await ended(2);
    const causes = events.flatMap((event) => (event.kind === "ended" ? [event.cause] : []));
    const message = expect.stringContaining("the driver of Ray ended (SIGKILL)");
    expect(causes).toEqual([
      { kind: "unknown", message },
      { kind: "unknown", message },
    ]);
    const isRunning = (event: PartEvent): boolean => {
      try {
        return process.kill(event.process.pid, 0);
      } catch {
        return false;
      }
    };
    while (events.some(isRunning)) await delay(20);
    await expect(launcher.start([sleeper], () => undefined)).rejects.toMatchObject({ code: "LAUNCHER_FAILED" });
    await launcher.stop();
  });

  test("a part that no machine has room for names what it needs", async () => {
    const { launcher } = await open();
    await expect(launcher.start([{ ...sleeper, cpus: 8 }], () => undefined)).rejects.toMatchObject({
      code: "LAUNCHER_FAILED",
      message: "Ray could not start a process: no machine of the cluster has 8 CPUs, 0 GPUs and 0 bytes for rollouts.",
    });
    await launcher.stop();
  });

  test("U5: a line of a library on the standard output of the driver ends nothing, and is in the message of its end", async () => {
    writeFileSync(
      join(scratch, "ray.py"),
      "print('a notice of a library', flush=True)\nraise ImportError('no ray here')",
    );
    process.env["PYTHONPATH"] = scratch;
    await expect(openDriver({ python })).rejects.toMatchObject({ code: "LAUNCHER_UNAVAILABLE" });
  });

  test("a Python without Ray, and no Python, are refused with the reason", async () => {
    process.env["PYTHONPATH"] = scratch;
    writeFileSync(join(scratch, "ray.py"), "raise ImportError('no ray here')");
    const unavailable = (text: string) => ({ code: "LAUNCHER_UNAVAILABLE", message: expect.stringContaining(text) });
    await expect(openDriver({ python })).rejects.toMatchObject(unavailable("no ray here"));
    await expect(openDriver({ python: "/no/python" })).rejects.toMatchObject(unavailable("/no/python does not start"));
  });
});

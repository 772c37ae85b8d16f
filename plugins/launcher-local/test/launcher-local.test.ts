import { expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PartEvent } from "@mrlm/spec/host";
import { launcherContract } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { LocalLauncher } from "../src/local-launcher.ts";

launcherContract({ name: "launcher:local", make: () => new LocalLauncher() });

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("kill -9 of the process that has the launcher ends the processes and what they started", async () => {
  const host = spawn(
    process.execPath,
    ["--conditions=mrlm-source", fileURLToPath(new URL("./support/host.ts", import.meta.url))],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const lines = createInterface({ input: host.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const pids = line.split(" ").map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  host.kill("SIGKILL");
  while (pids.some(isRunning)) await delay(50);
  lines.close();
});

test("each process has GPUs of its own, which the next one gets after its end", async () => {
  const [definition] = plugin.launchers ?? [];
  const launcher = await definition?.create({ gpus: [3, 5, 7] });
  const lines: string[] = [];
  const events: PartEvent[] = [];
  const onEvent = (event: PartEvent): void => {
    events.push(event);
    if (event.kind === "output") lines.push(event.line);
  };
  const part = (gpus: number, program: string) =>
    ({ kind: "rollouts", count: 1, gpus, command: [process.execPath, "-e", program] }) as const;
  const print = "console.log(process.env.CUDA_VISIBLE_DEVICES)";
  await launcher?.start([part(2, `${print}; setInterval(() => 0, 1000)`)], onEvent);
  await expect(launcher?.start([part(2, print)], onEvent)).rejects.toMatchObject({ code: "LAUNCHER_FAILED" });
  await launcher?.start([part(1, print)], onEvent);
  while (lines.length < 2) await delay(10);
  expect(lines.toSorted()).toEqual(["3,5", "7"]);
  await launcher?.stop(5_000);
});

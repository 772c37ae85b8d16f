import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { UsageMeter } from "../src/watchdog/usage-meter.ts";

const processes: ChildProcess[] = [];
const start = (command: string, ...args: string[]): ChildProcess => {
  const child = spawn(command, args, { detached: true, stdio: "ignore" });
  processes.push(child);
  return child;
};
const pidOf = (child: ChildProcess): number => child.pid as number;
const end = async (child: ChildProcess): Promise<void> => {
  const exit = once(child, "exit");
  process.kill(-pidOf(child), "SIGKILL");
  await exit;
};
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(5);
};

afterEach(async () => {
  for (const child of processes.splice(0)) if (child.exitCode === null && child.signalCode === null) await end(child);
});

(existsSync("/proc/self/stat") ? describe : describe.skip)("what a process uses", () => {
  test("is read until it is gone, and then never again", async () => {
    const child = start("sleep", "600");
    const meter = new UsageMeter(pidOf(child), false);
    // Between fork and exec it shows no memory.
    await until(() => (meter.read()?.rssBytes ?? 0) > 0);
    await end(child);
    expect(meter.read()).toBeUndefined();
    expect(meter.isGone).toBe(true);
    expect(meter.read()).toBeUndefined();
  });

  test("includes the processes of a tree up to a number, and the processor time of those that ended", async () => {
    const child = start(
      "sh",
      "-c",
      "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done | cat; sleep 600 & sleep 600 & sleep 600",
    );
    const tree = new UsageMeter(pidOf(child), true, true);
    await until(() => tree.read()?.processes === 4);
    expect(tree.read(2)?.processes).toBeLessThanOrEqual(3);
    const alone = new UsageMeter(pidOf(child), false);
    expect(tree.read()?.cpuMs).toBeGreaterThan(alone.read()?.cpuMs as number);
    for (const meter of [tree, alone]) meter.close();
  });

  test("includes its processor time", async () => {
    const meter = new UsageMeter(pidOf(start("sh", "-c", "while :; do :; done")), false);
    await until(() => (meter.read()?.cpuMs ?? 0) >= 20);
    meter.close();
  });

  test("includes, in a tree, what it has started, as that comes and goes", async () => {
    const pid = pidOf(start("sh", "-c", "sleep 600 & while :; do sleep 0.01; done"));
    const [tree, alone] = [new UsageMeter(pid, true), new UsageMeter(pid, false)];
    const isMore = (): boolean => (tree.read()?.rssBytes ?? 0) > (alone.read()?.rssBytes ?? 0);
    await until(isMore);
    for (let turn = 0; turn < 100; turn++) {
      expect(tree.read()?.rssBytes).toBeGreaterThan(0);
      await sleep(1);
    }
    await until(isMore);
    tree.close();
    alone.close();
  });

  test("includes, in a tree, the buffers of sockets that many open files can have", async () => {
    const code = "import os, time; held = [os.dup(0) for _ in range(400)]; time.sleep(600)";
    const pid = pidOf(start("python3", "-c", code));
    const [tree, alone] = [new UsageMeter(pid, true), new UsageMeter(pid, false)];
    const more = (): number => (tree.read()?.rssBytes ?? 0) - (alone.read()?.rssBytes ?? 0);
    await until(() => more() > 300 * 212_992);
    expect(more()).toBeLessThan(400 * 212_992);
    tree.close();
    alone.close();
  });

  test("holds no files once it is closed", async () => {
    const open = (): number => readdirSync("/proc/self/fd").length;
    const before = open();
    const child = start("sh", "-c", "sleep 600 & sleep 600 & wait");
    const meters = [true, false].map((isTree) => new UsageMeter(pidOf(child), isTree));
    const gone = new UsageMeter(pidOf(child), true);
    for (let turn = 0; turn < 20; turn++) for (const meter of [...meters, gone]) meter.read();
    for (const meter of meters) meter.close();
    await end(child);
    await until(() => gone.read() === undefined);
    // The pipes of the child close after it has ended.
    await until(() => open() <= before);
  });

  test("is undefined for a process that never was", () => {
    expect(new UsageMeter(2 ** 30, true).read()).toBeUndefined();
  });
});

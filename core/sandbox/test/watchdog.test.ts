import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { WatchSlot } from "../src/watchdog/watchdog.ts";

test("the watchdog kills at the deadline, and says so itself: whoever waits need not wait for the process to be gone", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  const exit = once(child, "exit");
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const slot = new WatchSlot(resolve);
  slot.arm({ pid: child.pid as number, isTree: false, rssBytes: 0, memoryBytes: 2 ** 40, cpuMs: 1e6, wallMs: 20 });
  await told;
  expect(slot.disarm()).toBe("timeout");
  expect(await exit).toEqual([null, "SIGKILL"]);
  slot.release();
});

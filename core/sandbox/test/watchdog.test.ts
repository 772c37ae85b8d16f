import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { WatchSlot } from "../src/watchdog/watchdog.ts";

test("the watchdog kills at the deadline, and reports it before the process has exited", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  const exit = once(child, "exit");
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  const slot = new WatchSlot(resolve);
  slot.arm({ pid: child.pid as number, isTree: false, rssBytes: 0, memoryBytes: 2 ** 40, cpuMs: 1e6, wallMs: 20 });
  await killed;
  expect(slot.disarm()).toBe("timeout");
  expect(await exit).toEqual([null, "SIGKILL"]);
  slot.release();
});

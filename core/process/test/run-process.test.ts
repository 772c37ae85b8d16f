import { expect, test } from "@jest/globals";
import { runProcess } from "../src/run-process.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("a command that cannot be started leaves no timer that keeps the process alive until its deadline", async () => {
  const before = timers();
  const { code, error } = await runProcess("/no/such/command", [], { timeoutMs: 60_000 });
  expect([code, error?.message]).toEqual([null, expect.stringContaining("ENOENT")]);
  expect(timers()).toBeLessThanOrEqual(before);
});

test("a command that runs past its deadline is killed", async () => {
  expect(await runProcess(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { timeoutMs: 300 })).toMatchObject({
    code: null,
    signal: "SIGKILL",
  });
});

import { expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";

const folder = new URL("../src/pyodide/", import.meta.url).href;

/** Runs a program without end in a process with the given supervisor. Returns the signal that ended it. */
function ended(supervisor: string): NodeJS.Signals | null {
  const code = `
    import { Interrupter } from "${folder}interrupt.ts";
    const interrupter = new Interrupter(new URL("${folder}interrupt-worker.ts"), ${supervisor});
    interrupter.limit({ wallMs: 2_000, cpuMs: 60_000 });
    interrupter.keepReady(() => {
      try {
        interrupter.run(() => { for (;;); });
      } catch {
        process.exit(0);
      }
    });`;
  return spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "--eval", code]).signal;
}

test("a program is killed whose supervisor had ended before the thread began that watches it", () => {
  // The process has another parent by then.
  expect(ended("process.ppid + 1")).toBe("SIGKILL");
});

test("a program whose supervisor is there is interrupted at its deadline only", () => {
  expect(ended("process.ppid")).toBeNull();
});

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Returns the processes that this process's MCP servers started, in any session, and that live. */
export function serverProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return false;
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`MRLM_TEST_RUN=${process.pid}\0`);
    } catch {
      return false;
    }
  });
}

/** Variables by which {@link serverProcesses} recognises a server and its descendants. */
export const marked = { MRLM_TEST_RUN: String(process.pid) };

/** Waits until a condition holds, for at most ten seconds. */
export async function until(condition: () => boolean): Promise<boolean> {
  for (let i = 0; i < 1000; i++) {
    if (condition()) return true;
    await delay(10);
  }
  return false;
}

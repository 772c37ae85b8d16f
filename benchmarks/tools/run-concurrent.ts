import { fork } from "node:child_process";
import { once } from "node:events";
import { treeMemoryMib } from "../process-tree.ts";
import { round } from "./measure.ts";

const SAMPLE_MS = 50;

/** Plays 1,000 episodes at the same time in a process of its own, and samples the memory of that process and of its children. */
export async function concurrentFigures(): Promise<Record<string, number>> {
  const child = fork(new URL("./concurrent.ts", import.meta.url), { execArgv: [] });
  let peak = 0;
  const sampler = setInterval(() => (peak = Math.max(peak, treeMemoryMib(child.pid as number))), SAMPLE_MS);
  try {
    const exit = once(child, "exit");
    const [result] = (await Promise.race([
      once(child, "message"),
      exit.then(([code]) => {
        throw new Error(`the episodes ended with code ${String(code)}`);
      }),
    ])) as [{ episodes: number; failed: number; seconds: number }];
    await exit;
    return {
      concurrent_episodes: result.episodes,
      concurrent_failed: result.failed,
      concurrent_s: round(result.seconds),
      concurrent_rss_mib: round(peak, 0),
    };
  } finally {
    clearInterval(sampler);
  }
}

/** 20,000 sessions of one server process: each on a clock of its own, then all at full speed. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { peakMemoryMib, serveOurs } from "./processes.ts";
import { median, quantile } from "./statistics.ts";
import { openOurs } from "./systems.ts";

/** Time between two steps of a session, in milliseconds. */
const PERIOD_MS = 2_000;
/** Periods before the latency is measured, and those that are. */
const PERIODS = { warmUp: 3, measured: 15 };
/** Sessions that are opened at the same time. */
const OPENING = 1_000;

export async function liveFigures(count: number, fullSpeedSeconds: number): Promise<Record<string, number>> {
  const limit = String(count);
  const server = await serveOurs("--workers", "0", "--max-sessions", limit, "--max-sessions-per-client", limit);
  try {
    const { steps, close } = await openOurs(server.port, count, { batch: OPENING });
    const latencies = await onClocks(steps);
    const probe = fork(new URL("health-probe.ts", import.meta.url), [String(server.port)], {
      execArgv: process.execArgv,
    });
    const made = await atFullSpeed(steps, fullSpeedSeconds);
    probe.send("end");
    const [health] = (await once(probe, "message")) as [number[]];
    const memory = peakMemoryMib(server.pid);
    await close();
    return {
      live_sessions: steps.length,
      live_rss_mib: memory,
      live_p99_ms: quantile(latencies, 0.99),
      live_fairness: Math.max(...made) / median(made),
      live_full_speed_steps_per_s: made.reduce((sum, each) => sum + each, 0) / fullSpeedSeconds,
      health_p99_ms: quantile(health, 0.99),
    };
  } finally {
    await server.stop();
  }
}

/** Steps each session at the times of its own clock. @returns the milliseconds from the time at which a step was due until its response */
async function onClocks(steps: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const latencies: number[] = [];
  const started = performance.now();
  const measuredFrom = started + PERIODS.warmUp * PERIOD_MS;
  const end = measuredFrom + PERIODS.measured * PERIOD_MS;
  // The phases of the clocks are random, as those of independent clients.
  const clocks = steps.map((step) => ({ step, due: started + Math.random() * PERIOD_MS, last: Promise.resolve() }));
  clocks.sort((one, other) => one.due - other.due);
  const underWay = new Set<Promise<void>>();
  for (let next = 0; ; next = (next + 1) % clocks.length) {
    const clock = clocks[next] as (typeof clocks)[number];
    while (performance.now() < clock.due) await sleep(1);
    const { due, step, last } = clock;
    if (due >= end) break;
    clock.due += PERIOD_MS;
    const call = last.then(async () => {
      await step();
      if (due >= measuredFrom) latencies.push(performance.now() - due);
    });
    clock.last = call;
    underWay.add(call);
    void call.finally(() => underWay.delete(call));
  }
  await Promise.all(underWay);
  return latencies;
}

/** Steps all sessions in lock-step. @returns the number of steps of each */
async function atFullSpeed(steps: readonly (() => Promise<unknown>)[], seconds: number): Promise<number[]> {
  const made = steps.map(() => 0);
  const until = performance.now() + 1_000 * seconds;
  await Promise.all(
    steps.map(async (step, index) => {
      while (performance.now() < until) {
        await step();
        (made[index] as number)++;
      }
    }),
  );
  return made;
}

/** Steps per second of sessions in lock-step: each sends its next action as soon as it has the response. */
import { setTimeout as sleep } from "node:timers/promises";
import { treeCpuSeconds } from "../process-tree.ts";
import { median, quantile } from "./statistics.ts";
import type { System } from "./systems.ts";

/** One measurement. CPU times are microseconds per step, of the process and its children. */
export interface Throughput {
  readonly stepsPerSecond: number;
  readonly p50Ms: number;
  readonly clientCpu: number;
  readonly serverCpu: number;
}

/** Part of each measurement before its clock starts. */
const WARM_UP = 0.25;

export async function measureThroughput(system: System, count: number, seconds: number): Promise<Throughput> {
  const { steps, close } = await system.open(count);
  const latencies: number[] = [];
  let isCounting = false;
  const over = new AbortController();
  const play = async (step: () => Promise<unknown>): Promise<void> => {
    while (!over.signal.aborted) {
      const started = performance.now();
      await step();
      if (isCounting) latencies.push(performance.now() - started);
    }
  };
  const players = steps.map(play);
  await sleep(1_000 * seconds * WARM_UP);
  const server = treeCpuSeconds(system.pid);
  const client = process.cpuUsage();
  const started = performance.now();
  isCounting = true;
  await sleep(1_000 * seconds);
  isCounting = false;
  const wall = performance.now() - started;
  const { user, system: kernel } = process.cpuUsage(client);
  const serverSeconds = treeCpuSeconds(system.pid) - server;
  over.abort();
  await Promise.all(players);
  await close();
  const made = latencies.length;
  return {
    stepsPerSecond: (1_000 * made) / wall,
    p50Ms: quantile(latencies, 0.5),
    clientCpu: (user + kernel) / made,
    serverCpu: (1e6 * serverSeconds) / made,
  };
}

/** Measures every system with each number of sessions, in turn, and returns the medians over the rounds. */
export async function interleaved(
  systems: readonly System[],
  counts: readonly number[],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Map<System, Map<number, Throughput>>> {
  const measured = new Map(
    systems.map((system) => [system, new Map(counts.map((count) => [count, [] as Throughput[]]))]),
  );
  for (const system of systems) await measureThroughput(system, 64, 2 * seconds);
  for (let round = 0; round < rounds; round++)
    for (const count of counts)
      for (const system of systems)
        measured
          .get(system)
          ?.get(count)
          ?.push(await measureThroughput(system, count, seconds));
  const medians = (all: readonly Throughput[]): Throughput => ({
    stepsPerSecond: median(all.map(({ stepsPerSecond }) => stepsPerSecond)),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    clientCpu: median(all.map(({ clientCpu }) => clientCpu)),
    serverCpu: median(all.map(({ serverCpu }) => serverCpu)),
  });
  return new Map(
    Array.from(measured, ([system, byCount]) => [
      system,
      new Map(Array.from(byCount, ([count, all]) => [count, medians(all)])),
    ]),
  );
}

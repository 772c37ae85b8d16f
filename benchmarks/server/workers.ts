/** Servers whose environments run in worker processes. */
import { setTimeout as sleep } from "node:timers/promises";
import { connectEnvironments } from "@mrlm/client";
import { childrenOf } from "../process-tree.ts";
import { serveOurs } from "./processes.ts";
import { openOurs, type System } from "./systems.ts";
import { interleaved } from "./throughput.ts";

const COMPUTING = 64;
const ECHOING = 256;
const KILLS = 5;
const never = new AbortController().signal;

export async function workerFigures(options: {
  readonly rounds: number;
  readonly seconds: number;
}): Promise<Record<string, number>> {
  const [none, two] = await Promise.all([serveOurs("--workers", "0"), serveOurs("--workers", "2")]);
  const system = ({ pid, port }: typeof none, environment: string): System => ({
    name: "",
    pid,
    open: (count) => openOurs(port, count, { environment }),
  });
  try {
    const compute = [system(none, "compute@1"), system(two, "compute@1")] as const;
    const computed = await interleaved(compute, [COMPUTING], options);
    const echo = system(two, "echo@1");
    const echoed = await interleaved([echo], [ECHOING], options);
    const speed = (measured: typeof computed, of: System, count: number): number =>
      measured.get(of)?.get(count)?.stepsPerSecond ?? Number.NaN;
    return {
      compute_steps_per_s: speed(computed, compute[0], COMPUTING),
      compute_steps_per_s_workers_2: speed(computed, compute[1], COMPUTING),
      steps_per_s_workers_2: speed(echoed, echo, ECHOING),
      worker_ready_ms: await readyMs(),
    };
  } finally {
    await Promise.all([none.stop(), two.stop()]);
  }
}

/** Returns the longest time from the kill of the only worker of a server to an answer of its replacement. */
async function readyMs(): Promise<number> {
  const times: number[] = [];
  // Each kill has a server of its own: a worker that ends again within a minute is started again after a pause.
  for (let kill = 0; kill < KILLS; kill++) times.push(await readyMsOfOne());
  return Math.max(...times);
}

async function readyMsOfOne(): Promise<number> {
  const server = await serveOurs("--workers", "1");
  const host = await connectEnvironments(`127.0.0.1:${server.port}`);
  try {
    const [worker] = childrenOf(server.pid);
    if (worker === undefined) throw new Error("The server has no worker.");
    process.kill(worker, "SIGKILL");
    const killed = performance.now();
    for (;;) {
      const session = await host.open({ id: "echo@1" });
      const hasAnswered = await session.reset({ signal: never }).then(
        () => true,
        () => false,
      );
      await session.close();
      if (hasAnswered) return performance.now() - killed;
      await sleep(10);
    }
  } finally {
    await host.close();
    await server.stop();
  }
}

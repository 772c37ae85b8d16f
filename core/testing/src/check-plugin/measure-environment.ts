import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { EnvironmentDefinition, Fixture } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import type { AnyPlugin } from "../any-plugin.ts";
import { playFixture, withSession } from "../contract/play.ts";
import { makeSubject } from "../contract/subject.ts";
import { inProcess, overGrpc, type Transport } from "../transports.ts";

/** Time for each transport, in milliseconds. */
const WINDOW_MS = 300;
const MAX_EPISODES = 2_000;

/** Speed of an environment over one transport, of one session at a time. */
export interface MeasuredSpeed {
  readonly transport: "in process" | "over gRPC";
  readonly episodesPerSecond: number;
  /** Median time of a call of `reset` and of `step`, in milliseconds. */
  readonly resetMs: number;
  readonly stepMs: number;
  /** Longest block of the event loop, in milliseconds. Its resolution is 5 ms, and the process itself takes some. */
  readonly longestBlockMs: number;
}

/** Plays the gold fixture again and again, and returns the throughput and latency in process and over gRPC. */
export async function measureEnvironment(
  plugins: readonly AnyPlugin[],
  definition: EnvironmentDefinition,
): Promise<MeasuredSpeed[]> {
  const fixture = definition.fixtures?.find(({ kind }) => kind === "gold") ?? definition.fixtures?.[0];
  if (fixture === undefined) return [];
  const transports: [MeasuredSpeed["transport"], Transport][] = [
    ["in process", inProcess],
    ["over gRPC", overGrpc()],
  ];
  const speeds: MeasuredSpeed[] = [];
  for (const [name, transport] of transports)
    speeds.push({ transport: name, ...(await measure(plugins, definition.id, fixture, transport)) });
  return speeds;
}

async function measure(
  plugins: readonly AnyPlugin[],
  id: string,
  fixture: Fixture,
  transport: Transport,
): Promise<Omit<MeasuredSpeed, "transport">> {
  const subject = await makeSubject(plugins, id, transport, undefined);
  const times: Record<"reset" | "step", number[]> = { reset: [], step: [] };
  try {
    return await withSession(subject, fixture.options, async (session) => {
      await playFixture(subject, fixture, session);
      const timed = timedSession(session, times);
      const monitor = monitorEventLoopDelay({ resolution: 5 });
      monitor.enable();
      const start = performance.now();
      let episodes = 0;
      do {
        // Each episode has another task, as in training.
        await playFixture(subject, { ...fixture, seed: fixture.seed ?? episodes }, timed);
        episodes++;
      } while (performance.now() - start < WINDOW_MS && episodes < MAX_EPISODES);
      const episodesPerSecond = (episodes * 1_000) / (performance.now() - start);
      // Blocks are known at the next turn of the event loop.
      await delay(10);
      monitor.disable();
      return {
        ...{ episodesPerSecond, resetMs: median(times.reset), stepMs: median(times.step) },
        longestBlockMs: monitor.max / 1e6,
      };
    });
  } finally {
    await subject.close();
  }
}

/** Returns the session, with the duration of each call added to `times`. */
function timedSession(session: EnvironmentSession, times: Record<"reset" | "step", number[]>) {
  const timed = async <T>(call: "reset" | "step", work: () => Promise<T>): Promise<T> => {
    const before = performance.now();
    const value = await work();
    times[call].push(performance.now() - before);
    return value;
  };
  return {
    reset: (options: Parameters<EnvironmentSession["reset"]>[0]) => timed("reset", () => session.reset(options)),
    step: (action: Parameters<EnvironmentSession["step"]>[0], options: Parameters<EnvironmentSession["step"]>[1]) =>
      timed("step", () => session.step(action, options)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

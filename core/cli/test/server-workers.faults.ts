import { readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import { LETHAL, lethalProject } from "./support/lethal-project.ts";
import { act, begin, workerServer } from "./support/worker-server.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const { signal } = new AbortController();
const directory = lethalProject();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Plays an episode, and restores it as a rollout does. @returns `done`, or the error with which it ended */
async function play(host: EnvironmentHost, id: string, actions: readonly string[]): Promise<string> {
  let session: EnvironmentSession | undefined;
  let done = 0;
  for (let losses = 0; losses <= 5; losses++) {
    try {
      const before = session;
      session = await host.open({ id }, before === undefined ? {} : { restores: before });
      await before?.close();
      await session.reset({ signal });
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === "SESSION_NOT_FOUND") continue;
      if (code !== "RESOURCE_EXHAUSTED") return `${code}: ${message}`;
      losses--;
      await sleep(50);
      continue;
    }
    let index = 0;
    let outcome = "";
    for (; index < actions.length; index++) {
      outcome = await act(session, actions[index]);
      if (outcome !== `step ${index}`) break;
      done = Math.max(done, index + 1);
    }
    if (index === actions.length) return session.close().then(() => "done");
    if (!outcome.startsWith("SESSION_NOT_FOUND")) return outcome;
  }
  return `lost five times, after ${done} steps`;
}

describe("an episode that always ends its worker, among 63 others", () => {
  const ways = (Object.keys(LETHAL) as (keyof typeof LETHAL)[]).filter((way) => way !== "print" && way !== "busy");
  test.each(ways)(
    "by %s: it fails once, and the others finish",
    async (way) => {
      const server = await workerServer(directory, { count: 2, memoryMb: 256 });
      try {
        const good = Array.from({ length: 63 }, (_, i) =>
          play(
            server.host,
            i % 2 === 0 ? "calm" : "lethal",
            Array.from({ length: 40 }, () => "slow"),
          ),
        );
        const bad = play(server.host, "lethal", ["slow", "slow", way]);
        const outcomes = await Promise.all(good);
        console.log(`${way}: ${await bad}; restarts ${server.workers.restarts}`);
        expect(outcomes.filter((outcome) => outcome !== "done")).toEqual([]);
        // Memory that grows between the calls can be attributed to one session when it has lost a second worker.
        expect(server.workers.restarts).toBe(way === "buffers" ? 2 : 1);
        expect(await bad).toMatch(
          /^ENVIRONMENT_FAILED: Environment lethal@1 \(plugin lethal 1\.2\.3\) ended its worker/,
        );
      } finally {
        await server.close();
      }
    },
    120_000,
  );
});

test("20 kills of a worker with 500 live sessions of two environments end its sessions only", async () => {
  const server = await workerServer(directory, { count: 2, maxSessions: 1_000, maxSessionsPerClient: 1_000 });
  try {
    const stopping = new AbortController();
    const isStopping = (): boolean => stopping.signal.aborted;
    const counts = { steps: 0, missed: 0, lost: 0, failed: 0, other: [] as string[] };
    const count = (outcome: string): void => {
      if (outcome.startsWith("SESSION_NOT_FOUND")) counts.lost++;
      else if (outcome.startsWith("ENVIRONMENT_FAILED")) counts.failed++;
      else if (!outcome.startsWith("RESOURCE_EXHAUSTED")) counts.other.push(outcome);
    };
    const live = async (id: string): Promise<void> => {
      while (!isStopping()) {
        const session = await begin(server.host, id).catch((error: unknown) => {
          // A session whose first reset was under way counts for its worker too.
          count((error as { code: string }).code);
        });
        if (session === undefined) {
          await sleep(20);
          continue;
        }
        for (let index = 0; !isStopping(); index++) {
          const outcome = await act(session, "slow");
          if (outcome === `step ${index}`) counts.steps++;
          else {
            count(outcome);
            break;
          }
        }
        await session.close().catch(() => undefined);
      }
    };
    const loops = Array.from({ length: 500 }, (_, i) => live(i % 2 === 0 ? "calm" : "lethal"));
    let onKilled = 0;
    const baseline = { descriptors: 0, heap: 0 };
    for (let kill = 0; kill < 20; kill++) {
      while (server.workers.processes.length < 2 || server.server.stats().sessions < 500) await sleep(20);
      await sleep(300);
      if (kill === 1) {
        collect();
        baseline.descriptors = readdirSync("/proc/self/fd").length;
        baseline.heap = process.memoryUsage().heapUsed;
      }
      const victim = server.workers.processes[kill % 2] as { readonly pid: number; readonly sessions: number };
      onKilled += victim.sessions;
      process.kill(victim.pid, "SIGKILL");
      while (server.workers.processes.some(({ pid }) => pid === victim.pid)) await sleep(5);
    }
    while (server.workers.processes.length < 2 || server.server.stats().sessions < 500) await sleep(20);
    await sleep(300);
    collect();
    const descriptors = readdirSync("/proc/self/fd").length;
    const heap = process.memoryUsage().heapUsed;
    stopping.abort();
    await Promise.all(loops);
    await sleep(200);
    console.log(
      JSON.stringify({ ...counts, onKilled, descriptors, heap, baseline, left: server.server.stats().sessions }),
    );
    expect(counts).toMatchObject({ missed: 0, other: [] });
    expect(counts.lost + counts.failed).toBe(onKilled);
    expect(server.server.stats().sessions).toBe(0);
    expect(descriptors).toBeLessThanOrEqual(baseline.descriptors + 2);
    expect(heap).toBeLessThan(1.2 * baseline.heap);
  } finally {
    await server.close();
  }
}, 300_000);

test("an environment that ends five workers within a minute is withdrawn, and the others continue", async () => {
  const server = await workerServer(directory, { count: 2 });
  try {
    const withdrawn: string[] = [];
    server.workers.onWithdrawn((environment) => withdrawn.push(environment));
    const calm = await begin(server.host, "calm");
    const outcomes: string[] = [];
    for (let ends = 0; ends < 6; ends++) {
      const session = await begin(server.host, "lethal").catch((error: Error) => error);
      outcomes.push(session instanceof Error ? session.message : await act(session, "exit"));
    }
    expect(outcomes.slice(0, 5).every((outcome) => outcome.startsWith("ENVIRONMENT_FAILED"))).toBe(true);
    expect(outcomes[5]).toMatch(/^Environment lethal@1 \(plugin lethal 1\.2\.3\) has been withdrawn/);
    expect(withdrawn).toEqual(["lethal@1"]);
    const outcome = await act(calm);
    const other = outcome === "step 0" ? calm : await begin(server.host, "calm");
    expect(await act(other)).toMatch(/^step/);
    expect(server.lines.some((line) => line.includes("has been withdrawn"))).toBe(true);
  } finally {
    await server.close();
  }
}, 120_000);

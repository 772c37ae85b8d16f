import { describe, expect, test } from "@jest/globals";
import { type Determinism, type EnvironmentDefinition, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { silentLogger } from "@mrlm/kit/service";
import { recordingEngine } from "@mrlm/testing";
import { ReplayWatch } from "../src/rollouts/replay-watch.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, request, runner, withOpen, withoutSeconds } from "./support/rollouts.ts";

const refusal = (): MrlmError => new MrlmError("SERVER_UNAVAILABLE", "the server is stopping", { retryDelayMs: 1 });

/**
 * Returns a host whose server is restarted after `dieAfter` steps, refuses `attemptsAway` sessions, and has lost the
 * earlier ones.
 */
async function restartedHost(
  definition: EnvironmentDefinition<any>,
  plan: { dieAfter: number; attemptsAway: number },
): Promise<{ host: EnvironmentHost; opened: () => number }> {
  const inner = await localHost(definition);
  let steps = 0;
  let restarts = 0;
  let away = 0;
  let opened = 0;
  const host = withOpen(inner, {
    async open(ref) {
      if (away > 0) {
        away--;
        throw refusal();
      }
      const session = await inner.open(ref);
      const openedIn = restarts;
      opened++;
      return {
        description: session.description,
        reset: (options) => session.reset(options),
        close: () => session.close(),
        step: async (action, options) => {
          if (++steps === plan.dieAfter) {
            restarts++;
            away = plan.attemptsAway;
          }
          if (openedIn !== restarts)
            throw away > 0 ? refusal() : new MrlmError("SESSION_NOT_FOUND", "the server was restarted");
          return session.step(action, options);
        },
      };
    },
  });
  return { host, opened: () => opened };
}

const slow = { environment: { id: "counter", options: { goal: 3 } } };

describe("an environment server that is restarted during a run", () => {
  test.each([0, 3])(
    "loses no episode: after %i refused sessions the episodes are what they would have been",
    async (attemptsAway) => {
      const expected = withoutSeconds(await collect(await runner(), slow));
      const { host, opened } = await restartedHost(counterEnvironment(), { dieAfter: 20, attemptsAway });
      expect(withoutSeconds(await collect(await runner({ host }), slow))).toEqual(expected);
      expect(opened()).toBeGreaterThan(12);
    },
  );

  test("an environment that cannot be replayed begins its episode again", async () => {
    const live = counterEnvironment({ determinism: "none" });
    const { host } = await restartedHost(live, { dieAfter: 20, attemptsAway: 1 });
    const groups = await collect(await runner({ host }), slow);
    const all = groups.flatMap(({ trajectories }) => trajectories);
    expect(all.map(({ error, turns, seed }) => [error, turns.length, seed])).toEqual(
      Array(12).fill([undefined, 3, null]),
    );
  });

  test("the actions of an environment that replays recorded answers are repeated, and nothing is sampled again", async () => {
    const sampled = async (determinism: Determinism): Promise<number> => {
      const { engine, asked } = recordingEngine(await bigramEngine());
      const definition = counterEnvironment({ determinism: () => determinism });
      const { host } = await restartedHost(definition, { dieAfter: 20, attemptsAway: 1 });
      await collect(await runner({ host, engine }), slow);
      return asked.samples.length;
    };
    const once = await sampled("full");
    expect(await sampled("replayable")).toBe(once);
    expect(await sampled("none")).toBeGreaterThan(once);
  });

  test("an environment that breaks its promise of determinism begins again too", async () => {
    let resets = 0;
    const liar = counterEnvironment({
      create: (context, options) => {
        const inner = counterEnvironment().create(context, options as never) as never as { reset: any; step: any };
        return {
          reset: async (given) => ({ ...(await inner.reset(given)), info: { resets: resets++ } }),
          step: (action, given) => inner.step(action, given),
        };
      },
    });
    const { host } = await restartedHost(liar, { dieAfter: 20, attemptsAway: 0 });
    const all = (await collect(await runner({ host }), slow)).flatMap(({ trajectories }) => trajectories);
    expect(all.every(({ error, turns }) => error === undefined && turns.length === 3)).toBe(true);
  });

  test("a server that refuses sessions for too long ends the run with its cause", async () => {
    const { host } = await restartedHost(counterEnvironment(), { dieAfter: 5, attemptsAway: 1e9 });
    await expect(collect(await runner({ host, maxWaitMs: 30 }), slow)).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
    });
  });

  test("a session that is lost in each attempt is opened six times", async () => {
    const inner = await localHost(counterEnvironment());
    let attempts = 0;
    const host = withOpen(inner, {
      open: async () => {
        if (++attempts > 50) throw new Error("opened without end");
        throw new MrlmError("SESSION_NOT_FOUND", "the server was restarted");
      },
    });
    const [group] = await collect(await runner({ host, concurrency: 1 }), {
      ...slow,
      tasks: ["train/0"],
      groupSize: 1,
    });
    expect(group?.trajectories[0]?.error).toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(attempts).toBe(6);
  });

  test("a server that its client could not reach is not waited for again", async () => {
    const inner = await localHost(counterEnvironment());
    let attempts = 0;
    const host = withOpen(inner, {
      open: async () => {
        attempts++;
        throw new MrlmError("SERVER_UNAVAILABLE", "connection refused");
      },
    });
    await expect(collect(await runner({ host, concurrency: 1 }), slow)).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
    });
    expect(attempts).toBe(1);
  });

  test("a server that is full is waited for", async () => {
    const inner = await localHost(counterEnvironment());
    let free = 3;
    const host = withOpen(inner, {
      async open(ref) {
        if (free === 0) throw new MrlmError("RESOURCE_EXHAUSTED", "full", { retryDelayMs: 1 });
        free--;
        const session = await inner.open(ref);
        return {
          description: session.description,
          reset: (options) => session.reset(options),
          step: (action, options) => session.step(action, options),
          close: async () => (free++, session.close()),
        };
      },
    });
    const groups = await collect(await runner({ host, concurrency: 3 }), slow);
    expect(groups.flatMap(({ trajectories }) => trajectories).every(({ error }) => error === undefined)).toBe(true);
    expect(groups).toHaveLength(request.tasks.length);
  });

  test("sessions that are opened again are counted by the reason, and reported", async () => {
    const lines: unknown[] = [];
    const replays = new ReplayWatch({ ...silentLogger, warn: (_, fields) => void lines.push(fields) });
    const { host } = await restartedHost(counterEnvironment(), { dieAfter: 20, attemptsAway: 3 });
    await collect(await runner({ host, replays }), slow);
    const { metrics } = replays.addTo({ iteration: 1, metrics: {}, seconds: {} });
    expect(metrics).toEqual({
      "replays/SERVER_UNAVAILABLE": expect.any(Number),
      "replays/SESSION_NOT_FOUND": expect.any(Number),
    });
    const warned = lines as Record<string, number>[];
    for (const code of ["SERVER_UNAVAILABLE", "SESSION_NOT_FOUND"])
      expect(warned.reduce((sum, line) => sum + (line[code] ?? 0), 0)).toBe(metrics[`replays/${code}`]);
    expect(replays.addTo({ iteration: 2, metrics: {}, seconds: {} }).metrics).toEqual({});
  });

  test("a session that ended its worker is not opened again: its episode fails, and the others continue", async () => {
    const inner = await localHost(counterEnvironment());
    let opened = 0;
    const host = withOpen(inner, {
      async open(ref) {
        const isFatal = opened++ === 5;
        const session = await inner.open(ref);
        return {
          description: session.description,
          reset: (options) => session.reset(options),
          step: async (action, options) => {
            if (isFatal) throw new MrlmError("ENVIRONMENT_FAILED", "ended its worker", { isRetryable: false });
            return session.step(action, options);
          },
          close: () => session.close(),
        };
      },
    });
    const all = (await collect(await runner({ host }), slow)).flatMap(({ trajectories }) => trajectories);
    expect(all.map(({ error }) => error?.code).filter((code) => code !== undefined)).toEqual(["ENVIRONMENT_FAILED"]);
    expect([all.length, opened]).toEqual([12, 12]);
  });
});

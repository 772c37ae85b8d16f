import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { randomStream } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { ReplayWatch } from "../src/rollouts/replay-watch.ts";
import { collect, runner, withoutSeconds } from "./support/rollouts.ts";
import { killServers, startServer } from "./support/server-process.ts";

afterAll(killServers);
const script = new URL("./support/counter-server.ts", import.meta.url);
/** Kills that begin during one collection, however slow it is. One more can have begun before; an episode is restored five times. */
const MAX_KILLS = 4;

test.each([
  [10, 1],
  [20, 2],
])(
  "%i times kill -9 and restart of one of %i servers leave every trajectory as it would have been",
  async (wanted, count) => {
    // FAULTS_SEED repeats a run.
    const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
    console.log(`FAULTS_SEED=${seed}`);
    const random = randomStream("kills", seed);
    const servers = await Promise.all(Array.from({ length: count }, () => startServer(script)));
    const host = await connectEnvironments(servers.map(({ port }) => `127.0.0.1:${port}`));
    const replays = new ReplayWatch(silentLogger);
    const rollouts = await runner({ host, replays });
    const long = { environment: { id: "counter", options: { goal: 40 } } };
    const expected = JSON.stringify(withoutSeconds(await collect(await runner({ host }), long)));
    const progress = { isKilling: true, kills: 0 };
    const killing = (async () => {
      for (let kills = 0; kills < wanted; kills++) {
        await sleep(random.integer(50, 600));
        while (progress.kills >= MAX_KILLS) await sleep(10);
        progress.kills++;
        const i = random.integer(0, count - 1);
        const { port, kill } = servers[i] as (typeof servers)[0];
        await kill();
        await sleep(random.integer(0, 300));
        servers[i] = await startServer(script, port);
      }
      progress.isKilling = false;
    })();
    let collections = 0;
    for (; progress.isKilling; collections++) {
      progress.kills = 0;
      expect(JSON.stringify(withoutSeconds(await collect(rollouts, long)))).toBe(expected);
    }
    await killing;
    await host.close();
    const { metrics } = replays.addTo({ iteration: 1, metrics: {}, seconds: {} });
    console.log(JSON.stringify({ collections, ...metrics }));
    expect(metrics["replays/SESSION_NOT_FOUND"]).toBeGreaterThan(wanted);
  },
  600_000,
);

// npm run test:faults -- async-kills kills the store server of a real run.
import { expect, test } from "@jest/globals";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectStore } from "@mrlm/client";
import { randomStream } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { playRun } from "@mrlm/runtime";
import { serveStore } from "@mrlm/server";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine, type BigramTraining, trainBigram } from "@mrlm/testing";
import { freePort } from "../../benchmarks/ports/free-port.ts";
import { AHEAD, partsForPlay } from "../replay/support/replays.ts";

type StoreServer = Awaited<ReturnType<typeof serveStore>>;

const [PIPELINED] = Object.values(AHEAD).map((training): BigramTraining => ({
  ...training,
  stages: [{ ...training.stages[0], steps: 4 }],
  config: { ...training.config, eval: { tasks: 0 }, checkpoint: { every: 0 } },
})) as [BigramTraining];

/** Serves a store on one port, and ends the server at random instants. On a busy machine too, a server ends only after it has received some calls. */
async function serveUnsteadily(path: string, stop: AbortSignal) {
  const random = randomStream("store servers", 0);
  let store: EpisodeStore;
  let server: StoreServer;
  let ends = 0;
  const received = { calls: 0 };
  const start = async (address: string): Promise<void> => {
    store = await openLocalStore({ path, purpose: "train", endsLeases: false });
    received.calls = 0;
    const opened = async (): Promise<EpisodeStore> => {
      received.calls++;
      return store;
    };
    const describe = () => ({ path, config: "", hasEnded: false, isLocked: true });
    server = await serveStore({ address, source: { store: opened, describe } });
  };
  const end = async (): Promise<void> => {
    await server.close();
    await store.close();
  };
  const address = `127.0.0.1:${await freePort()}`;
  await start(address);
  const ended = (async () => {
    while (!stop.aborted) {
      const [least, milliseconds] = [random.integer(0, 4), random.integer(1, 40)];
      await sleep(milliseconds, undefined, { signal: stop }).catch(() => undefined);
      while (received.calls < least && !stop.aborted) await sleep(1);
      if (stop.aborted) break;
      await end();
      ends++;
      await start(address);
    }
    await end();
    return ends;
  })();
  return { address, ended };
}

test("pipelined: a remote rollout worker whose store server ends again and again gives the same bits", async () => {
  const alone = await trainBigram(PIPELINED);
  const engine = new BigramEngine();
  const [stop, stopServer] = [new AbortController(), new AbortController()];
  let played = 0;
  let worker: Promise<void> | undefined;
  let servers: Promise<number> | undefined;
  const outcome = await trainBigram({
    ...PIPELINED,
    engine,
    openStore: async (settings) => {
      const own = await openLocalStore(settings);
      const { address, ended } = await serveUnsteadily(settings.path, stopServer.signal);
      servers = ended;
      worker = (async () => {
        const { prepared, host } = await partsForPlay(dirname(settings.path));
        const store = await connectStore(address);
        const about = { prepared, host, store, engine, name: "worker", logger: silentLogger, signal: stop.signal };
        try {
          await playRun({ ...about, onPlayed: () => played++ });
        } finally {
          await store.close();
          await host.close();
        }
      })();
      // The training process finds nothing to play.
      return Object.assign(own, { lease: async () => [] });
    },
  });
  stop.abort();
  await worker;
  stopServer.abort();
  expect(await servers).toBeGreaterThan(0);
  expect(played).toBeGreaterThan(0);
  expect(outcome.weights.equals(alone.weights)).toBe(true);
  const ids = outcome.played.flatMap((groups) => groups.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

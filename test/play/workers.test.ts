// npm run test:faults -- async-kills kills rollout workers of real runs.
import { expect, test } from "@jest/globals";
import { dirname } from "node:path";
import { silentLogger } from "@mrlm/kit/service";
import { playRun } from "@mrlm/runtime";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine, type BigramTraining, trainBigram } from "@mrlm/testing";
import { AHEAD, partsForPlay } from "../replay/support/replays.ts";

const short = (training: BigramTraining): BigramTraining => ({
  ...training,
  stages: [{ ...training.stages[0], steps: 4 }],
  config: { ...training.config, eval: { tasks: 0 }, checkpoint: { every: 0 } },
});
const [PIPELINED, ASYNC] = Object.values(AHEAD).map(short) as [BigramTraining, BigramTraining];
const BRANCHED = short(AHEAD["GRPO with credit by branches, two batches ahead"] as BigramTraining);

/** Trains a run for which some workers play all episodes, with stores of their own. Returns the number of cohorts that they played. */
async function trainWith(training: BigramTraining, workers: number) {
  const engine = new BigramEngine();
  const stop = new AbortController();
  let played = 0;
  const running: Promise<void>[] = [];
  const reads: Promise<void>[] = [];
  /** Whether the worker is a member, after each cohort that it has played. */
  const isMember: boolean[] = [];
  let path = "";
  const outcome = await trainBigram({
    ...training,
    engine,
    openStore: async (settings) => {
      ({ path } = settings);
      const store = await openLocalStore(settings);
      for (let i = 0; i < workers; i++)
        running.push(
          (async () => {
            const { prepared, host } = await partsForPlay(dirname(settings.path));
            const own = await openLocalStore({ path: settings.path, purpose: "train", endsLeases: false });
            const name = `worker-${i}`;
            const onPlayed = (): void => {
              played++;
              reads.push(own.members().then((members) => void isMember.push(members.some(({ id }) => id === name))));
            };
            const about = { prepared, host, store: own, engine, name };
            try {
              await playRun({ ...about, logger: silentLogger, signal: stop.signal, onPlayed });
            } finally {
              await Promise.all(reads);
              await own.close();
              await host.close();
            }
          })(),
        );
      // The training process finds nothing to play.
      return Object.assign(store, { lease: async () => [] });
    },
  });
  stop.abort();
  await Promise.all(running);
  expect(isMember).toEqual(isMember.map(() => true));
  const store = await openLocalStore({ path, purpose: "train", endsLeases: false });
  expect(await store.members()).toEqual([]);
  await store.close();
  return { outcome, played };
}

test("pipelined: one, two or three processes that play give the same bits", async () => {
  const alone = await trainBigram(PIPELINED);
  for (const workers of [1, 2]) {
    const { outcome, played } = await trainWith(PIPELINED, workers);
    expect(played).toBeGreaterThan(8);
    expect([workers, outcome.weights.equals(alone.weights)]).toEqual([workers, true]);
  }
});

test("pipelined with branches: they are played by the process that plays their episode, to the same bits", async () => {
  const alone = await trainBigram(BRANCHED);
  const { outcome, played } = await trainWith(BRANCHED, 2);
  expect(played).toBe(4 * 2);
  expect(outcome.weights.equals(alone.weights)).toBe(true);
  const branches = outcome.played
    .flat()
    .flatMap(({ trajectories }) => trajectories.flatMap(({ turns }) => turns.map((turn) => turn.branches?.length)));
  expect(new Set(branches)).toEqual(new Set([undefined, 2]));
});

test("async: groups that workers play are learnt from, each once", async () => {
  const { outcome, played } = await trainWith(ASYNC, 2);
  expect(played).toBeGreaterThan(8);
  const ids = outcome.played.flatMap((groups) => groups.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

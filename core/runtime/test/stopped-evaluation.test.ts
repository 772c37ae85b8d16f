import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "@jest/globals";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { score } from "@mrlm/spec";
import { EpisodeReader, openLocalStore } from "@mrlm/store";
import { evaluate, EvaluationPlan, type EvaluationResult, playMissing, storedResults } from "@mrlm/runtime";
import { PlayTally } from "../src/rollouts/play-tally.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, localHost, runner } from "./support/rollouts.ts";
import { throughputEngine } from "./support/throughput-engine.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const TASKS = ["train/0", "train/1", "train/2", "train/3"];

/** Environment whose episodes of task 0 never end, and in which all others have ended when `stop` is called. */
function endless(stop: () => void) {
  return counterEnvironment({
    create: () => {
      let isLast = false;
      return {
        reset: async ({ task }) => ((isLast = task !== "train/0"), observe([textMessage("user", "1")])),
        step: async () => {
          if (!isLast) {
            await pause(20);
            stop();
          }
          return singleStep({ messages: [textMessage("user", "2")], reward: score(1), terminated: isLast });
        },
      };
    },
  });
}

test.each([true, false])(
  "N3: a stopped evaluation has the results of the episodes that had ended (deterministic: %s)",
  async (isDeterministic) => {
    const stop = new AbortController();
    const tally = new PlayTally();
    const host = await localHost(endless(() => stop.abort()));
    const engine = isDeterministic ? await bigramEngine() : throughputEngine(await bigramEngine());
    const rollouts = await runner({ host, engine, isDeterministic, tally });
    const kept: string[] = [];
    const path = join(temporaryDirectory(), "episodes.sqlite");
    const store = await openLocalStore({ path, run: "stopped", purpose: "eval", endsLeases: false });
    const reader = new EpisodeReader({ path });
    const plan = new EvaluationPlan(
      {
        environment: { ref: { id: "counter" }, tasks: TASKS, players: "policy" },
        ...{ label: "counter", sampling: { temperature: 1, maxTokens: 4 }, samples: 1 },
        identity: { environment: {}, model: {}, seed: 0 },
      },
      reader,
      { retries: false },
    );
    const record: typeof store.record = (played) => {
      kept.push(...played.groups.map(({ task }) => task));
      return store.record(played);
    };
    await expect(
      playMissing(plan, { rollouts, store: { record }, signal: stop.signal, onEpisode: () => undefined }),
    ).rejects.toMatchObject({ code: "CANCELLED" });
    const partial = storedResults(plan, reader);
    reader.close();
    await store.close();
    expect(kept.toSorted()).toEqual(TASKS.slice(1));
    expect(partial).toMatchObject([
      { environment: "counter", tasks: 3, greedy: { episodes: 3, scored: 3, reward: 1 } },
    ]);
    expect(partial[0]).not.toHaveProperty("sampled");
    expect([tally.episodes, tally.underWay]).toEqual([3, 0]);
    expect(tally.answers).toBeGreaterThanOrEqual(4);
    expect(tally.tokens).toBeGreaterThanOrEqual(tally.answers);
  },
);

test("N3: answers that max_tokens cuts are counted while episodes are played", async () => {
  const tally = new PlayTally();
  const rollouts = await runner({ tally });
  const seen: PlayTally[] = [];
  const [result] = await evaluate({
    rollouts,
    environments: [{ ref: { id: "counter" }, tasks: TASKS, players: "policy" }],
    sampling: { temperature: 1, maxTokens: 4 },
    samples: 2,
    onProgress: () => seen.push(tally.copy()),
  });
  expect(seen.map(({ answers }) => answers)).toContain(0);
  expect(tally).toMatchObject({ episodes: 12, answers: 24, underWay: 0 });
  const { greedy, sampled } = result as EvaluationResult;
  expect(tally.cut).toBeCloseTo(8 * (greedy.cut as number) + 16 * (sampled?.cut as number), 6);
  expect(tally.tokens).toBeCloseTo(4 * (greedy.tokens as number) + 8 * (sampled?.tokens as number), 6);
});

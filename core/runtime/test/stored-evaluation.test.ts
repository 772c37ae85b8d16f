import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { score, unscored } from "@mrlm/spec";
import type { EpisodeStore, Rollouts } from "@mrlm/spec/host";
import { EpisodeReader, openLocalStore } from "@mrlm/store";
import { evaluate } from "../src/evaluation/evaluate.ts";
import { EvaluationPlan, playMissing, type StoredCell, storedResults } from "../src/evaluation/stored-evaluation.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { localHost, runner } from "./support/rollouts.ts";

const TASKS = ["eval/0", "eval/1", "eval/2", "eval/3"];
const CELL: StoredCell = {
  environment: { ref: { id: "counter" }, tasks: TASKS, players: "policy" },
  label: "counter@1",
  sampling: { temperature: 1, maxTokens: 6 },
  samples: 3,
  identity: { environment: { id: "counter@1", options: {} }, model: { weights: "a" }, seed: 0 },
};

let folder: string;
let store: EpisodeStore;
let reader: EpisodeReader;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-evaluation-"));
  const path = join(folder, "episodes.sqlite");
  store = await openLocalStore({ path, run: "one", purpose: "eval", endsLeases: false });
  reader = new EpisodeReader({ path });
});
afterEach(async () => {
  reader.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Plays what is missing, up to a number of episodes. Returns the number of played ones. */
async function play(cell: StoredCell, rollouts: Rollouts, { most = Infinity, retries = false } = {}): Promise<number> {
  const plan = new EvaluationPlan(cell, reader, { retries });
  const stop = new AbortController();
  let played = 0;
  const onEpisode = (): void => {
    if (++played === most) stop.abort();
  };
  const playing = playMissing(plan, { rollouts, store, signal: stop.signal, onEpisode });
  if (most === Infinity) await playing;
  else await expect(playing).rejects.toMatchObject({ code: "CANCELLED" });
  return played;
}

const resultsOf = (cell: StoredCell) => storedResults(new EvaluationPlan(cell, reader, { retries: false }), reader);
const keysOf = (): readonly string[] => reader.recorded("").map(({ id, key }) => `${key} ${id}`);
/** Without the cost, which the evaluations of a training run do not state. */
const figures = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === "cost" ? undefined : each)));

test("an evaluation that is stopped twice plays each episode once, and has the results of an undisturbed one", async () => {
  const rollouts = await runner({ concurrency: 2 });
  const [undisturbed] = await evaluate({
    ...{ rollouts, environments: [CELL.environment], sampling: CELL.sampling, samples: CELL.samples },
  });
  await play(CELL, rollouts, { most: 3 });
  const first = keysOf();
  expect(first.length).toBeGreaterThanOrEqual(3);
  await play(CELL, rollouts, { most: 5 });
  const second = keysOf();
  expect(second.slice(0, first.length)).toEqual(first);
  expect(await play(CELL, rollouts)).toBe(16 - second.length);
  expect(keysOf().slice(0, second.length)).toEqual(second);
  const [result] = resultsOf(CELL);
  expect(figures(result)).toEqual(figures({ ...undisturbed, environment: "counter@1" }));
  expect(await play(CELL, rollouts)).toBe(0);
});

test("another model, option, seed or sampling reuses no episode; a rename, more samples and fewer tasks do", async () => {
  const rollouts = await runner({ concurrency: 8 });
  await play(CELL, rollouts);
  const missing = (changes: Partial<StoredCell>): number =>
    new EvaluationPlan({ ...CELL, ...changes }, reader, { retries: false }).missing;
  const { identity } = CELL;
  expect(missing({ identity: { ...identity, model: { weights: "b" } } })).toBe(16);
  expect(missing({ identity: { ...identity, environment: { id: "counter@1", options: { goal: 3 } } } })).toBe(16);
  expect(missing({ identity: { ...identity, seed: 1 } })).toBe(16);
  // Greedy episodes are those of any temperature.
  expect(missing({ sampling: { temperature: 0.5, maxTokens: 6 } })).toBe(12);
  expect(missing({ sampling: { temperature: 1, maxTokens: 7 } })).toBe(16);
  expect(missing({ label: "counter@1#2" })).toBe(0);
  expect(missing({ samples: 5 })).toBe(8);
  const fewer = { ...CELL, samples: 2, environment: { ...CELL.environment, tasks: TASKS.slice(0, 2) } };
  expect(missing(fewer)).toBe(0);
  expect(resultsOf(fewer)).toMatchObject([{ tasks: 2, greedy: { episodes: 2 }, sampled: { episodes: 4 } }]);
});

test("D3: episodes that failed or have no score are played again on request alone, and count as wrong until then", async () => {
  let isBroken = true;
  const host = await localHost(
    counterEnvironment({
      create: () => {
        let task = "";
        return {
          reset: async (request) => {
            task = request.task as string;
            if (isBroken && task === "eval/0") throw new Error("The service is down.");
            return observe([textMessage("user", task)]);
          },
          step: async () =>
            singleStep({
              messages: [],
              reward: isBroken && task === "eval/1" ? unscored("JUDGE_DOWN", "no answer") : score(1),
              terminated: true,
            }),
        };
      },
    }),
  );
  const rollouts = await runner({ host });
  const cell = { ...CELL, samples: 0 };
  await play(cell, rollouts);
  const [result] = resultsOf(cell);
  expect(result?.greedy).toMatchObject({ episodes: 4, failed: 1, unscored: 1, accuracy: 1, strictAccuracy: 0.5 });
  expect(result?.greedy.intervals.strictAccuracy?.[1]).toBeLessThan(0.9);
  isBroken = false;
  expect(await play(cell, rollouts)).toBe(0);
  expect(await play(cell, rollouts, { retries: true })).toBe(2);
  const [again] = resultsOf(cell);
  expect(again?.greedy).toMatchObject({ episodes: 4, scored: 4, failed: 0, unscored: 0, accuracy: 1 });
  expect(again?.greedy).not.toHaveProperty("strictAccuracy");
  expect(reader.recorded("")).toHaveLength(4);
});

test("an evaluation ends where its store cannot be written", async () => {
  const rollouts = await runner();
  const broken: Pick<EpisodeStore, "record"> = { record: () => Promise.reject(new Error("The disk is full.")) };
  const plan = new EvaluationPlan(CELL, reader, { retries: false });
  const { signal } = new AbortController();
  await expect(playMissing(plan, { rollouts, store: broken, signal, onEpisode: () => undefined })).rejects.toThrow(
    "The disk is full.",
  );
});

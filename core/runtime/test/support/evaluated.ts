// Process of the suite of kills: plays an evaluation of a scripted model in a directory, or continues it, with the parts of `mrlm eval` and without plugins that it does not need.
import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { score } from "@mrlm/spec";
import { silentLogger } from "@mrlm/kit/service";
import { EpisodeReader, openEpisodeStore } from "@mrlm/store";
import type { Player } from "@mrlm/spec/host";
import { EvaluationPlan, playMissing, storedResults } from "../../src/evaluation/stored-evaluation.ts";
import { LocalHost } from "../../src/host/local-host.ts";
import { PluginHost } from "../../src/plugins/plugin-host.ts";
import { RolloutRunner } from "../../src/rollouts/rollout-runner.ts";
import { writeAtomically } from "../../src/run/atomic-write.ts";
import { lockRun } from "../../src/run/run-lock.ts";
import { counterEnvironment } from "./counter-environment.ts";

/** All tasks of the split. */
const TASKS = 8;
const SAMPLES = 11;
/** Milliseconds of an answer: an evaluation takes about a second. */
const ANSWER_MS = 8;

/** The answer follows from the question and the seed of the episode alone, so that it does not depend on the order of play. */
const agent: Player = {
  ...{ kind: "scripted", name: "measured", isOutside: true, recordedAs: "policy" },
  open: async (episode) => ({
    async act({ messages }) {
      await sleep(ANSWER_MS);
      const digit = Number.parseInt(hash("sha256", JSON.stringify([messages, episode.seed])).slice(0, 6), 16) % 3;
      return { agent: episode.agent, message: textMessage("assistant", String(digit)), finishReason: "stop" };
    },
  }),
};

/** Three questions, of which the last one pays for the answer 1. */
const environment = counterEnvironment({
  create: () => {
    let [asked, place] = [0, ""];
    return {
      async reset({ task, seed }) {
        [asked, place] = [0, `${String(task)} ${seed}`];
        return observe([textMessage("user", place)]);
      },
      async step({ message }) {
        const isLast = ++asked === 3;
        const solved = isLast && messageText(message) === "1" ? 1 : 0;
        const messages = [textMessage("user", `${place} ${asked}`)];
        return singleStep({ messages, reward: score(solved, { correct: solved }), terminated: isLast });
      },
    };
  },
});

const directory = process.argv[2] as string;
mkdirSync(directory, { recursive: true });
const lock = lockRun(directory);
const path = join(directory, "episodes.sqlite");
const store = await openEpisodeStore({ path, run: "evaluated", purpose: "eval", endsLeases: false, resumedAt: -1 });
const host = new LocalHost({
  source: await PluginHost.of([definePlugin({ name: "test", environments: [environment] })]),
});
const rollouts = new RolloutRunner({
  ...{ host, logger: silentLogger, runSeed: 0, isDeterministic: false, concurrency: 4, maxWaitMs: 1_000 },
  engine: { sampler: () => Promise.reject(new Error("no model plays")) },
  renderer: () => {
    throw new Error("no model plays");
  },
  tokenLimit: () => 512,
  turnLimit: () => 0,
});
const reader = new EpisodeReader({ path });
const plan = new EvaluationPlan(
  {
    environment: {
      ref: { id: "counter@1" },
      tasks: Array.from({ length: TASKS }, (_, i) => `train/${i}`),
      players: { agent },
    },
    ...{ label: "counter@1", samples: SAMPLES, sampling: { temperature: 1, maxTokens: 8 } },
    identity: { environment: { id: "counter@1" }, model: { weights: "measured" }, seed: 0 },
  },
  reader,
  { retries: false },
);
await playMissing(plan, { rollouts, store, signal: new AbortController().signal, onEpisode: () => undefined });
writeAtomically(join(directory, "run.json"), JSON.stringify({ results: storedResults(plan, reader) }));
reader.close();
await store.close();
lock.release();

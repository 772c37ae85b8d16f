// Process of the suite of kills: plays an evaluation of a scripted model in a directory, or continues it, with the parts of `mrlm eval` and without plugins that it does not need.
import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import nimPlugin from "@mrlm/environment-nim";
import { textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { EpisodeReader, openEpisodeStore } from "@mrlm/store";
import type { Player } from "@mrlm/spec/host";
import { EvaluationPlan, playMissing, storedResults } from "../../../core/runtime/src/evaluation/stored-evaluation.ts";
import { LocalHost } from "../../../core/runtime/src/host/local-host.ts";
import { PluginHost } from "../../../core/runtime/src/plugins/plugin-host.ts";
import { RolloutRunner } from "../../../core/runtime/src/rollouts/rollout-runner.ts";
import { writeAtomically } from "../../../core/runtime/src/run/atomic-write.ts";
import { lockRun } from "../../../core/runtime/src/run/run-lock.ts";

/** All tasks of the split. */
const TASKS = 16;
const SAMPLES = 5;
/** Milliseconds of an answer: an evaluation takes about a second. */
const ANSWER_MS = 8;

/** The answer follows from the question alone, so that it does not depend on the order of play. */
const player = (name: string, recordedAs?: string): Player => ({
  ...{ kind: "scripted", name, isOutside: true, ...(recordedAs === undefined ? {} : { recordedAs }) },
  open: async ({ agent }) => ({
    async act({ messages }) {
      await sleep(ANSWER_MS);
      const digit = Number.parseInt(hash("sha256", JSON.stringify([name, messages])).slice(0, 6), 16);
      return { agent, message: textMessage("assistant", String(1 + (digit % 3))), finishReason: "stop" };
    },
  }),
});

const directory = process.argv[2] as string;
mkdirSync(directory, { recursive: true });
const lock = lockRun(directory);
const path = join(directory, "episodes.sqlite");
const store = await openEpisodeStore({ path, run: "evaluated", purpose: "eval", endsLeases: false, resumedAt: -1 });
const host = new LocalHost({ source: await PluginHost.of([nimPlugin]) });
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
      ref: { id: "nim@1" },
      tasks: Array.from({ length: TASKS }, (_, i) => `eval/${i}`),
      players: { first: player("measured", "policy"), second: player("opponent") },
    },
    ...{ label: "nim@1", samples: SAMPLES, sampling: { temperature: 1, maxTokens: 8 } },
    identity: { environment: { id: "nim@1" }, model: { weights: "measured" }, seed: 0 },
  },
  reader,
  { retries: false },
);
await playMissing(plan, { rollouts, store, signal: new AbortController().signal, onEpisode: () => undefined });
writeAtomically(join(directory, "run.json"), JSON.stringify({ results: storedResults(plan, reader) }));
reader.close();
await store.close();
lock.release();

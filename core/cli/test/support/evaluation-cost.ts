// Process of `npm run bench -- eval`: plays an evaluation in memory and as one that can be resumed, in turn, and prints a line of JSON at the begin and the end of each.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  evaluate,
  EvaluationPlan,
  type EvaluationResult,
  playMissing,
  type StoredCell,
  storedResults,
} from "@mrlm/runtime";
import { MrlmError, type TaskId } from "@mrlm/spec";
import { EpisodeReader, openEpisodeStore } from "@mrlm/store";
import { createConsole } from "../../src/console/console.ts";
import { openRolloutSession } from "../../src/services/rollout-session.ts";
import { rolloutSessionConfig } from "../../src/services/rollout-session-config.ts";

const [model = "", rounds = "", count = "", tokens = ""] = process.argv.slice(2);
const silent = createConsole({ json: true, stdout: new PassThrough().resume(), stderr: process.stderr });
const directory = fileURLToPath(new URL("../../../../", import.meta.url));
// The environments run in this process: the command of a server is that of `mrlm`.
const set = ["server.spawn=false", `sampling.max_tokens=${tokens}`];
const args = { model, environment: "math", split: "eval", set };
const given = await rolloutSessionConfig(args, () => Promise.reject(new MrlmError("INTERNAL", "no model is fetched")));
const { signal } = new AbortController();
const session = await openRolloutSession({ console: silent, directory }, args, given, signal);
const output = mkdtempSync(join(tmpdir(), "mrlm-bench-eval-"));
try {
  const { ref, players } = session.environment;
  const { sampling } = session.sampling;
  const environment = { ref, players, tasks: Array.from({ length: Number(count) }, (_, i): TaskId => `eval/${i}`) };
  const cell: StoredCell = {
    ...{ environment, label: ref.id, sampling, samples: 1 },
    identity: { environment: { id: ref.id }, model: { path: model }, seed: 0 },
  };
  const found: EvaluationResult[] = [];
  const timed = async (kind: string, work: () => Promise<unknown>): Promise<void> => {
    process.stdout.write(`${JSON.stringify({ kind, at: "begin" })}\n`);
    await work();
    process.stdout.write(`${JSON.stringify({ kind, at: "end" })}\n`);
  };
  const inMemory = async (): Promise<void> => {
    found.push(...(await evaluate({ rollouts: session.rollouts, environments: [environment], sampling, samples: 1 })));
  };
  const resumable = async (path: string): Promise<void> => {
    const store = await openEpisodeStore({ path, run: "bench", purpose: "eval", endsLeases: false });
    const reader = new EpisodeReader({ path });
    const plan = new EvaluationPlan(cell, reader, { retries: false });
    await playMissing(plan, { rollouts: session.rollouts, store, signal, onEpisode: () => undefined });
    found.push(...storedResults(plan, reader));
    reader.close();
    await store.close();
  };
  await inMemory();
  for (let round = 0; round < Number(rounds); round++) {
    const path = join(output, `${round}.sqlite`);
    const kinds = [() => timed("plain", inMemory), () => timed("kept", () => resumable(path))];
    // The order changes, so that a machine that slows down favours neither.
    for (const play of round % 2 === 0 ? kinds : kinds.toReversed()) await play();
    await timed("again", () => resumable(path));
  }
  const rewards = new Set(found.map(({ greedy, sampled }) => `${greedy.reward} ${sampled?.reward}`));
  if (rewards.size !== 1) throw new Error(`The evaluations differ: ${[...rewards].join(", ")}`);
} finally {
  await session.close();
  rmSync(output, { recursive: true });
}

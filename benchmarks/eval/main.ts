/**
 * npm run bench -- eval [--json] [--rounds N] [--tasks N] [--model RUN]: cost of an evaluation that can be resumed (keys, episode store, results from the store) over one that is kept in memory alone:
 * `resume_overhead` is the median over rounds of the ratio of their CPU seconds, engine and store included, less 1. Both play the same episodes with the model of the quickstart,
 * in turn. `resume_seconds` is the time in which a finished evaluation is read again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
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
import { createConsole } from "../../core/cli/src/console/console.ts";
import { openRolloutSession } from "../../core/cli/src/services/rollout-session.ts";
import { rolloutSessionConfig } from "../../core/cli/src/services/rollout-session-config.ts";
import { printFigures, processor } from "../figures.ts";
import { treeCpuSeconds } from "../process-tree.ts";
import { trainingRun } from "../store/training-run.ts";
import { median } from "../train/measurement.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    tasks: { type: "string", default: "128" },
    model: { type: "string" },
  },
});
/** Tokens of an answer: that of the quickstart's run. */
const TOKENS = 64;

interface Cost {
  readonly cpu: number;
  readonly wall: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [cpu, wall] = [treeCpuSeconds(process.pid), performance.now()];
  await work();
  return { cpu: treeCpuSeconds(process.pid) - cpu, wall: (performance.now() - wall) / 1000 };
}

const directory = fileURLToPath(new URL("../../", import.meta.url));
const silent = createConsole({ json: true, stdout: new PassThrough().resume(), stderr: process.stderr });
if (values.model === undefined) console.error("training the model");
const run = values.model === undefined ? await trainingRun(TOKENS, 1) : { directory: values.model };
// The environments run in this process: the command of the server is that of `mrlm`.
const args = { model: run.directory, environment: "math", split: "eval", set: ["server.spawn=false"] };
const given = await rolloutSessionConfig(args, () => Promise.reject(new MrlmError("INTERNAL", "no model is fetched")));
const { signal } = new AbortController();
const session = await openRolloutSession({ console: silent, directory }, args, given, signal);
const output = mkdtempSync(join(tmpdir(), "mrlm-bench-eval-"));
try {
  const { ref, players } = session.environment;
  const tasks = Array.from({ length: Number(values.tasks) }, (_, i): TaskId => `eval/${i}`);
  const environment = { ref, players, tasks };
  const { sampling } = session.sampling;
  const cell: StoredCell = {
    ...{ environment, label: ref.id, sampling, samples: 1 },
    identity: { environment: { id: ref.id }, model: { path: run.directory }, seed: 0 },
  };
  const found: EvaluationResult[] = [];
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
  const rounds: { readonly plain: Cost; readonly kept: Cost; readonly again: Cost }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const path = join(output, `${round}.sqlite`);
    const kept = (): Promise<Cost> => costOf(() => resumable(path));
    const plain = (): Promise<Cost> => costOf(inMemory);
    // The order changes, so that a machine that slows down favours neither.
    const [first, second] = round % 2 === 0 ? [await plain(), await kept()] : [await kept(), await plain()];
    const again = await costOf(() => resumable(path));
    rounds.push(round % 2 === 0 ? { plain: first, kept: second, again } : { plain: second, kept: first, again });
    console.error(`round ${round + 1}: ${JSON.stringify(rounds.at(-1))}`);
  }
  const accuracies = new Set(found.map(({ greedy, sampled }) => `${greedy.reward} ${sampled?.reward}`));
  if (accuracies.size !== 1) throw new Error(`The evaluations differ: ${[...accuracies].join(", ")}`);
  const ratio = (kind: keyof Cost): number => median(rounds.map(({ plain, kept }) => kept[kind] / plain[kind])) - 1;
  const figures = {
    resume_overhead: Number(ratio("cpu").toPrecision(3)),
    resume_overhead_wall: Number(ratio("wall").toPrecision(3)),
    cpu_seconds: Number(median(rounds.map(({ plain }) => plain.cpu)).toPrecision(4)),
    resume_seconds: Number(median(rounds.map(({ again }) => again.wall)).toPrecision(3)),
    episodes: 2 * tasks.length,
  };
  if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
  printFigures("eval", processor(), figures);
} finally {
  await session.close();
  rmSync(output, { recursive: true });
  if (values.model === undefined) rmSync(dirname(run.directory), { recursive: true });
}

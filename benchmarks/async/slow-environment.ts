/** Groups a second with environments of slow episodes, asynchronous against in turn, and what is learnt from against what the tasks are. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { paceBound } from "./pace-bound.ts";
import { trainingRun } from "../store/training-run.ts";
import { median } from "../train/measurement.ts";
import { GRPO, type StoredRun, storedRun } from "./measured-run.ts";

const GROUPS = 8;
const LAGS = [1, 2, 4, 8];
/** A run that is measured: an environment, and a lag, which is 0 in turn. */
interface Measured {
  readonly environment: string;
  readonly lag: number;
  readonly steps: number;
}

interface Pace {
  readonly groupsPerSecond: number;
  /** Seconds of an iteration in which neither episodes are played nor waited for, in the median. */
  readonly learnSeconds: number;
  readonly store: StoredRun;
}

/** Lognormal waits, which have no largest one, at a lag of 4. */
export async function slowEnvironmentFigures(): Promise<Record<string, number>> {
  console.error("an environment with waits of 1 s in the mean and 10 s at the 99th percentile");
  const inTurn = await measure({ environment: "waiting@1", lag: 0, steps: 20 });
  const beside = await measure({ environment: "waiting@1", lag: 4, steps: 60 });
  return {
    async_groups_ratio_slow_env: beside.groupsPerSecond / inTurn.groupsPerSecond,
    async_groups_bound_slow_env: boundOf(beside, 4, inTurn) / inTurn.groupsPerSecond,
    sync_groups_per_s: inTurn.groupsPerSecond,
    async_groups_per_s: beside.groupsPerSecond,
    lag_max: beside.store.age,
    refused_share: beside.store.refused / beside.store.played,
  };
}

/** Half of the tasks wait 4 s, at several lags. Runs in turn are between those that are compared with them. */
export async function selectionFigures(): Promise<Record<string, number>> {
  console.error("an environment in which half of the tasks wait 4 s, in turn and with lags of 1, 2, 4 and 8");
  const figures: Record<string, number> = {};
  const inTurn = (): Promise<Pace> => measure({ environment: "slow-half@1", lag: 0, steps: 6 });
  let before = await inTurn();
  for (const lag of LAGS) {
    const pace = await measure({ environment: "slow-half@1", lag, steps: 10 * (lag + 1) });
    const after = await inTurn();
    const sync = (before.groupsPerSecond + after.groupsPerSecond) / 2;
    const { learnt, refused, played, age } = pace.store;
    Object.assign(figures, {
      [`selection_slow_share_lag_${lag}`]: learnt.filter(({ task }) => task % 2 === 1).length / learnt.length,
      [`groups_ratio_lag_${lag}`]: pace.groupsPerSecond / sync,
      [`groups_bound_lag_${lag}`]: boundOf(pace, lag, before) / sync,
      // Not more than one batch is learnt from in the time of learning.
      [`groups_learning_limit_lag_${lag}`]: GROUPS / pace.learnSeconds / sync,
      [`refused_share_lag_${lag}`]: refused / played,
      [`age_max_lag_${lag}`]: age,
    });
    before = after;
  }
  return figures;
}

/** Returns the most groups a second with the waits of a run, from which on the time of learning is that of a run in turn. */
function boundOf({ store: { learnt } }: Pace, lag: number, { learnSeconds }: Pace): number {
  const durations = learnt.map(({ seconds }) => seconds);
  const takes = paceBound({ lag, groups: GROUPS, learnSeconds, durations });
  const [first, last] = [takes[lag], takes.at(-1)] as [number, number];
  return ((takes.length - 1 - lag) * GROUPS) / (last - first);
}

/** Trains, and measures all steps after the first window of lag + 1 steps, which has its groups from the begin. */
async function measure({ environment, lag, steps }: Measured): Promise<Pace> {
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const skipped = lag + 1;
  const count = steps + skipped;
  const { directory } = await trainingRun(4, steps, output, {
    plugins: { [fileURLToPath(new URL("./environment/", import.meta.url))]: true },
    environments: [{ id: environment }],
    sampling: { max_tokens: 4, concurrency: 512 },
    stages: [{ ...GRPO, prompts_per_step: GROUPS, group_size: 4, steps: count, learning_rate: 1e-4 }],
    play: lag === 0 ? { mode: "sync" } : { mode: "async", lag },
  });
  const rows = readFileSync(join(directory, "metrics.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"iteration"'))
    .map((line) => JSON.parse(line) as { readonly seconds: Readonly<Record<string, number>> })
    .slice(skipped);
  const of = (name: string, { seconds }: (typeof rows)[number]): number => seconds[name] ?? 0;
  const total = rows.reduce((sum, row) => sum + of("total", row), 0);
  const store = storedRun(directory);
  rmSync(output, { recursive: true });
  const learning = rows.map(
    (row) => of("total", row) - of("sampling", row) - of("environment", row) - of("waited", row),
  );
  return { groupsPerSecond: (rows.length * GROUPS) / total, learnSeconds: median(learning), store };
}

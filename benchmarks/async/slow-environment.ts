/** Groups a second with an environment of lognormal waits, asynchronous against in turn. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { trainingRun } from "../store/training-run.ts";
import { GRPO, playOf, type StoredRun, storedRun } from "./measured-run.ts";

const GROUPS = 8;
const CONFIG = {
  plugins: { [fileURLToPath(new URL("./environment/", import.meta.url))]: true },
  environments: [{ id: "waiting@1" }],
  sampling: { max_tokens: 4, concurrency: 512 },
};
/** A step in turn takes as long as its slowest group. */
const STEPS = { sync: 10, async: 40 } as const;

export async function slowEnvironmentFigures(): Promise<Record<string, number>> {
  console.error("an environment with waits of 1 s in the mean and 10 s at the 99th percentile");
  const inTurn = await train("sync");
  const beside = await train("async");
  return {
    async_groups_ratio_slow_env: beside.groups / inTurn.groups,
    sync_groups_per_s: inTurn.groups,
    async_groups_per_s: beside.groups,
    lag_max: beside.store.age,
    refused_share: beside.store.refused / beside.store.played,
  };
}

/** Groups a second that are learnt from, over all steps after the first two. */
async function train(mode: "sync" | "async"): Promise<{ readonly groups: number; readonly store: StoredRun }> {
  const count = STEPS[mode];
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const stages = [{ ...GRPO, prompts_per_step: GROUPS, group_size: 4, steps: count + 2, learning_rate: 1e-4 }];
  const { directory } = await trainingRun(4, count, output, { ...CONFIG, stages, play: playOf(mode) });
  const rows = readFileSync(join(directory, "metrics.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"iteration"'))
    .map((line) => JSON.parse(line) as { readonly seconds: { readonly total: number } })
    .slice(2);
  const seconds = rows.reduce((sum, row) => sum + row.seconds.total, 0);
  const store = storedRun(directory);
  rmSync(output, { recursive: true });
  return { groups: (rows.length * GROUPS) / seconds, store };
}

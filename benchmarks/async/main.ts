/**
 * npm run bench -- async [--json] [--steps N] [--rounds N]: play beside learning. Wall time of a step of the quickstart's GRPO, pipelined against in turn; groups
 * a second with an environment of lognormal waits, asynchronous against in turn; weights of five equal pipelined runs.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { trainingRun } from "../store/training-run.ts";
import { median } from "../train/measurement.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    steps: { type: "string", default: "30" },
    rounds: { type: "string", default: "3" },
  },
});
const ANSWER_TOKENS = 10;
const RUNS = 5;
const LAG = 4;
const GRPO = { algorithm: "grpo@1", prompts_per_step: 32, group_size: 8, mismatch: "truncate" };
const SLOW = {
  plugins: { [fileURLToPath(new URL("./environment/", import.meta.url))]: true },
  environments: [{ id: "waiting@1" }],
  sampling: { max_tokens: 4, concurrency: 512 },
};
/** Steps with waits: a step in turn takes as long as its slowest group. */
const SLOW_STEPS = { sync: 10, async: 40 } as const;

const steps = Number(values.steps);
const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));

type Mode = "sync" | "pipelined" | "async";

/** Trains and returns the costs of a step with the store's answer to a query. */
async function train(mode: Mode, count: number, changes: object): Promise<{ wall: number; cpu: number; store: Row }> {
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const stage = { ...GRPO, steps: count + 2, learning_rate: 1e-4 };
  const play = { mode, ...(mode === "async" && { lag: LAG }) };
  const run = await trainingRun(ANSWER_TOKENS, count, output, { stages: [stage], play, ...changes });
  const store = storeOf(run.directory);
  rmSync(output, { recursive: true });
  return { wall: run.wallSeconds, cpu: run.cpuSeconds, store };
}

interface Row {
  readonly checksum: string;
  readonly age: number;
  readonly played: number;
  readonly refused: number;
}

function storeOf(directory: string): Row {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"), { readOnly: true });
  const one = (sql: string): Record<string, unknown> => database.prepare(sql).get() as Record<string, unknown>;
  const { checksum } = one("SELECT checksum FROM weights ORDER BY key DESC LIMIT 1");
  const { age } = one("SELECT MAX(max_age) AS age FROM v_staleness");
  const { played, refused } = one("SELECT COUNT(*) AS played, SUM(is_refused) AS refused FROM batches");
  database.close();
  return { checksum: String(checksum), age: Number(age), played: Number(played), refused: Number(refused) };
}

console.error(`${values.rounds} rounds of ${steps} steps, in turn and pipelined`);
const quick = { sync: [] as number[], pipelined: [] as number[], cpu: [] as number[] };
const checksums = new Set<string>();
let pipelined = 0;
for (let round = 0; round < Number(values.rounds); round++)
  for (const mode of ["sync", "pipelined"] as const) {
    const { wall, cpu, store } = await train(mode, steps, {});
    quick[mode].push(wall);
    if (mode === "sync") quick.cpu.push(cpu);
    else {
      pipelined++;
      checksums.add(store.checksum);
    }
  }
for (; pipelined < RUNS; pipelined++) checksums.add((await train("pipelined", steps, {})).store.checksum);
put("pipelined_wall_ratio", median(quick.pipelined) / median(quick.sync));
// Two processors need at least half of the CPU time of a step in turn.
put("pipelined_wall_to_half_cpu", median(quick.pipelined) / (median(quick.cpu) / 2));
put("sync_step_ms", median(quick.sync) * 1000);
put("pipelined_step_ms", median(quick.pipelined) * 1000);
put("sync_step_cpu_ms", median(quick.cpu) * 1000);
put("pipelined_runs_equal", checksums.size === 1 ? pipelined : 0);

console.error("an environment with waits of 1 s in the mean and 10 s at the 99th percentile");
const stages = (count: number): object => ({
  stages: [{ ...GRPO, prompts_per_step: 8, group_size: 4, steps: count + 2, learning_rate: 1e-4 }],
});
const inTurn = await timed("sync");
const beside = await timed("async");
put("async_groups_ratio_slow_env", beside.groups / inTurn.groups);
put("sync_groups_per_s", inTurn.groups);
put("async_groups_per_s", beside.groups);
put("lag_max", beside.store.age);
put("refused_share", beside.store.refused / beside.store.played);

/** Groups a second that are learnt from, over all steps after the first two. */
async function timed(mode: "sync" | "async"): Promise<{ readonly groups: number; readonly store: Row }> {
  const count = SLOW_STEPS[mode];
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const play = { mode, ...(mode === "async" && { lag: LAG }) };
  const { directory } = await trainingRun(4, count, output, { ...SLOW, ...stages(count), play });
  const rows = readFileSync(join(directory, "metrics.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"iteration"'))
    .map((line) => JSON.parse(line) as { readonly seconds: { readonly total: number } })
    .slice(2);
  const seconds = rows.reduce((sum, row) => sum + row.seconds.total, 0);
  const store = storeOf(directory);
  rmSync(dirname(directory), { recursive: true });
  return { groups: (rows.length * 8) / seconds, store };
}

if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
console.log(
  JSON.stringify({
    bench: "async",
    machine: `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores`,
    figures,
  }),
);

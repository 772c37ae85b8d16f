/**
 * npm run bench -- store [--json] [--steps N]: cost of the episode store beside a step of `mrlm train` by GRPO (32 groups of 8 episodes, answers of 64 and of
 * 10 tokens), and queries of 100,000 episodes. The operations of a run are repeated on another store with the episodes that the run wrote.
 */
import { dirname } from "node:path";
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";
import { episodesIn, recordedSteps, storeCost } from "./operations.ts";
import { queryCost } from "./queries.ts";
import { trainingRun } from "./training-run.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, steps: { type: "string", default: "12" } },
});
const ANSWERS = { "": 64, _short: 10 } as const;

const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));

for (const [suffix, tokens] of Object.entries(ANSWERS)) {
  console.error(`training with answers of ${tokens} tokens`);
  const run = await trainingRun(tokens, Number(values.steps));
  const steps = recordedSteps(run.directory);
  const cost = await storeCost(steps);
  const episodes = episodesIn(steps[0]?.groups ?? []);
  put(`store_cpu_share${suffix}`, cost.cpuSeconds / run.cpuSeconds);
  put(`store_wall_share${suffix}`, cost.wallSeconds / run.wallSeconds);
  put(`store_cpu_ms_per_step${suffix}`, cost.cpuSeconds * 1000);
  put(`step_cpu_ms${suffix}`, run.cpuSeconds * 1000);
  put(`step_wall_ms${suffix}`, run.wallSeconds * 1000);
  put(`bytes_per_episode${suffix}`, cost.bytes);
  if (suffix === "") put("commit_per_s", (episodes * cost.commits.length) / sum(cost.commits));
  rmSync(dirname(run.directory), { recursive: true });
}
console.error("querying 100,000 episodes");
const { episodes, queries, start, takes } = await queryCost();
put("episodes", episodes);
put("take_p99_ms", takes.toSorted((one, other) => one - other)[Math.ceil(takes.length * 0.99) - 1] as number);
put("query_start_ms", start);
put("query_ms", Math.max(...Object.values(queries)));
for (const [name, milliseconds] of Object.entries(queries)) put(`query_${name}_ms`, milliseconds);

if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
printFigures("store", processor(), figures);

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

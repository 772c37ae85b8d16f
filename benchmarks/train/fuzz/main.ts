// npm run fuzz:train [-- --runs N] [--seed S] [--only I] [--strategy one|ddp|fsdp] [--code] [--bigram]: trains by random configurations, each a few thousand parameters for a few steps, and complains of what breaks.
// `--only I` repeats number I of a seed. The last line is JSON; the exit code is 1 if there was a complaint.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { draw } from "./draw.ts";
import { mutationComplaints } from "./mutate.ts";
import { openPlace, type Strategy } from "./place.ts";
import { tryOut } from "./trial.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: "0" },
    only: { type: "string" },
    strategy: { type: "string" },
    code: { type: "boolean", default: false },
    bigram: { type: "boolean", default: false },
    mutants: { type: "string", default: "5" },
    "no-training": { type: "boolean", default: false },
    show: { type: "boolean", default: false },
  },
});
const directory = mkdtempSync(join(tmpdir(), "mrlm-fuzz-"));
const place = await openPlace(directory, { withCode: values.code, isBigram: values.bigram });
const numbers =
  values.only === undefined ? Array.from({ length: Number(values.runs) }, (_, i) => i) : [Number(values.only)];
const counts: Record<string, number> = {};
let complaints = 0;
for (const number of numbers) {
  const { strategy, ...other } = draw(`fuzz/${values.seed}/${number}`, place);
  const drawn = { ...other, strategy: (values.strategy as Strategy | undefined) ?? strategy };
  if (values.show && values.only !== undefined) console.error(JSON.stringify(drawn.config, undefined, 2));
  const began = performance.now();
  const verdict = values["no-training"] ? { kind: "drawn", complaints: [] } : await tryOut(drawn, place);
  const mutants = await mutationComplaints(drawn, place, Number(values.mutants));
  counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
  complaints += verdict.complaints.length + mutants.length;
  if (values.show) console.error(number, drawn.strategy, verdict.kind, ((performance.now() - began) / 1000).toFixed(1));
  if (number % 25 === 24) console.error(`${number + 1} tried`);
  for (const complaint of mutants) console.error(`${number} (mutant): ${complaint}`);
  for (const complaint of verdict.complaints) console.error(`${number} (${verdict.kind}): ${complaint}`);
}
await place.close();
rmSync(directory, { recursive: true, force: true });
console.log(JSON.stringify({ seed: values.seed, runs: numbers.length, ...counts, complaints }));
process.exitCode = complaints > 0 ? 1 : 0;

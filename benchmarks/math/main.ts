/**
 * npm run bench -- math [--json]: this repository's verifier against Math-Verify on the same labelled pairs.
 * Throughput is that of one thread after a first pass over the pairs; `max_ms` is the slowest pair, each at its median over
 * the passes, and `first_pass_max_ms` the slowest verdict of a process that has just started. Both sides are timed from
 * the texts to the verdict.
 */
import { writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { verify } from "@mrlm/scorer-math";
import { labelledPairs, type Pair } from "./pairs.ts";
import { judgeWithMathVerify } from "./peer.ts";
import { classesOf, figuresOf, type Judged } from "./statistics.ts";

const PASSES = 5;

function judge(pair: Pair): Judged {
  const start = performance.now();
  const { verdict } = verify(pair.expected, pair.answer, pair.options);
  return { pair, equivalent: verdict === "equivalent", seconds: (performance.now() - start) / 1000 };
}

function judgeWithPeer(pairs: readonly Pair[]): readonly Judged[] {
  const file = join(tmpdir(), `mrlm-bench-math-${process.pid}.jsonl`);
  writeFileSync(file, pairs.map((pair) => JSON.stringify(pair)).join("\n"));
  return judgeWithMathVerify(file).map((verdict, i) => ({ ...verdict, pair: pairs[i] as Pair }));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

const json = process.argv.includes("--json");
const sets = labelledPairs();
const pairs = Object.values(sets).flat();
const first = pairs.map(judge);
const later = Array.from({ length: PASSES }, () => pairs.map(judge));
const peer = judgeWithPeer(pairs);

const ours = figuresOf(later.flat());
const theirs = figuresOf(peer);
// Use the median of each pair over the passes, because it excludes the effect of other load on the machine.
const typical = pairs.map((_, i) => median(later.map((pass) => (pass[i] as Judged).seconds)));
const wrong = figuresOf(first);
const rows = Object.entries(sets).flatMap(([name, set]) => {
  const of = (judged: readonly Judged[]): readonly Judged[] => judged.filter(({ pair }) => set.includes(pair));
  return [
    { set: name, verifier: "mrlm", ...figuresOf(of(later[0] as readonly Judged[])) },
    { set: name, verifier: "Math-Verify", ...figuresOf(of(peer)) },
  ];
});
const classes = classesOf(first, peer);
if (!json) {
  console.table(rows);
  console.table(classes);
}
console.log(
  JSON.stringify({
    bench: "math",
    machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version },
    figures: {
      pairs_per_s: ours.pairs_per_s,
      math_verify_pairs_per_s: theirs.pairs_per_s,
      max_ms: Number((Math.max(...typical) * 1000).toPrecision(3)),
      wrong: wrong.false_positives + wrong.false_negatives,
      math_verify_wrong: theirs.false_positives + theirs.false_negatives,
      ratio: Number((ours.pairs_per_s / theirs.pairs_per_s).toPrecision(3)),
      p50_ms: ours.p50_ms,
      p99_ms: ours.p99_ms,
      math_verify_p50_ms: theirs.p50_ms,
      math_verify_p99_ms: theirs.p99_ms,
      math_verify_max_ms: theirs.max_ms,
      first_pass_max_ms: wrong.max_ms,
      false_positives: wrong.false_positives,
      false_negatives: wrong.false_negatives,
      math_verify_false_positives: theirs.false_positives,
      math_verify_false_negatives: theirs.false_negatives,
      pairs: pairs.length,
    },
    rows,
    classes,
  }),
);

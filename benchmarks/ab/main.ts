// npm run bench -- ab NAME --base COMMIT [--rounds 10] [--json] [-- options of NAME]: runs a benchmark by another commit and by this working tree, in turn,
// and prints the median of the paired ratios of each figure with its interval. Above 1: this working tree is slower, or takes more. "Within 5 %" means
// that the upper end is at most 1.05.
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BaseTree } from "../../test/same-bits/base-tree.ts";
import { compare, kindOf } from "./paired-ratios.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const args = process.argv.slice(2);
const end = args.includes("--") ? args.indexOf("--") : args.length;
const { values, positionals } = parseArgs({
  args: args.slice(0, end),
  allowPositionals: true,
  options: {
    base: { type: "string" },
    rounds: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const [name] = positionals;
const rounds = Number(values.rounds);
if (name === undefined || values.base === undefined || positionals.length > 1 || !(rounds >= 1)) {
  console.error(
    "Name a benchmark and a commit: npm run bench -- ab NAME --base COMMIT [--rounds 10] [-- options of NAME]",
  );
  process.exit(2);
}

const base = new BaseTree(ROOT, values.base);
process.on("exit", () => base.release());
base.checkOut();
base.setUp();

type Figures = Readonly<Record<string, number>>;

const pairs: (readonly [Figures, Figures])[] = [];
for (let round = 1; round <= rounds; round++) {
  console.error(`round ${round} of ${rounds}`);
  // The order changes, so that a machine that becomes faster or slower favours neither.
  const trees = [base.directory, ROOT];
  const measured = new Map((round % 2 === 1 ? trees : trees.toReversed()).map((tree) => [tree, measure(tree)]));
  pairs.push([measured.get(base.directory) ?? {}, measured.get(ROOT) ?? {}]);
}

const figures: Record<string, number> = {};
for (const figure of Object.keys(pairs[0]?.[0] ?? {})) {
  const kind = kindOf(figure);
  const both = pairs.map(([theirs, ours]) => [theirs[figure], ours[figure]] as const);
  if (kind === undefined || !both.every((pair): pair is [number, number] => pair.every((value) => Number(value) > 0)))
    continue;
  const { median, lower, upper } = compare(kind, both);
  figures[figure] = round4(median);
  figures[`${figure}_lower`] = round4(lower);
  figures[`${figure}_upper`] = round4(upper);
  if (!values.json) console.log(`${figure.padEnd(40)} ${median.toFixed(3)} [${lower.toFixed(3)}, ${upper.toFixed(3)}]`);
}
console.log(
  JSON.stringify({
    bench: "ab",
    of: name,
    base: base.commit,
    rounds,
    machine: { cpu: cpus()[0]?.model, cores: cpus().length },
    figures,
  }),
);

/** Runs the benchmark in a tree, and returns the figures of its last line. */
function measure(directory: string): Figures {
  const output = execFileSync(
    process.execPath,
    ["scripts/bench.mjs", name as string, "--json", ...args.slice(end + 1)],
    {
      cwd: directory,
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    },
  );
  return (JSON.parse(output.trim().split("\n").at(-1) as string) as { figures: Figures }).figures;
}

function round4(value: number): number {
  return Number(value.toPrecision(4));
}

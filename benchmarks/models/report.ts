import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROWS } from "./rows.ts";
import type { Answers, SeedResult, Share } from "./train-row.ts";

const HERE = import.meta.dirname;
const README = join(HERE, "README.md");
const BEGIN = "<!-- begin of the table -->";
const END = "<!-- end of the table -->";

/** Results of a row, one for each seed. */
export interface RowResult {
  readonly row: string;
  readonly configuration: string;
  readonly seeds: readonly SeedResult[];
}

export function readResults(row: string): RowResult | undefined {
  const file = join(HERE, "results", `${row}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as RowResult) : undefined;
}

/** Writes the figures of a row, and the table. */
export function writeResults(result: RowResult): void {
  mkdirSync(join(HERE, "results"), { recursive: true });
  writeFileSync(join(HERE, "results", `${result.row}.json`), `${JSON.stringify(result, null, 2)}\n`);
  const page = readFileSync(README, "utf8");
  const before = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  writeFileSync(README, `${before}\n\n${table()}\n\n${page.slice(page.indexOf(END))}`);
}

function table(): string {
  const lines = ROWS.flatMap((row) =>
    (readResults(row.name)?.seeds ?? []).map((seed) => {
      const gain = seed.after.share - seed.before.share;
      const cells = [
        `[${row.name}](../../examples/real/${row.name}.yaml)`,
        row.task,
        `[${seed.seed}](answers/${row.name}-${seed.seed}.md)`,
        String(seed.tasks),
        withInterval(seed.before),
        seed.between.map((share) => share.toFixed(3)).join(", "),
        withInterval(seed.after),
        `${gain.toFixed(3)} (${seed.difference.map((end) => end.toFixed(3)).join(" to ")})`,
        seed.minutes.toFixed(1),
        seed.findings.length === 0 ? "none" : seed.findings.map((rule) => `\`${rule}\``).join(", "),
      ];
      return `| ${cells.join(" | ")} |`;
    }),
  );
  const head = "| row | held-out task | seed | tasks | before | between | after | gain | minutes | findings |";
  return [head, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", ...lines].join("\n");
}

const withInterval = ({ share, interval }: Share): string =>
  `${share.toFixed(3)} (${interval.map((end) => end.toFixed(3)).join(" to ")})`;

/** Writes what the policy has answered before and after. */
export function writeAnswers(row: string, { seed, commit }: SeedResult, answers: readonly Answers[]): void {
  const parts = answers.map((each, i) => [
    `## ${i + 1}`,
    "",
    fenced(each.question),
    "",
    `Before, ${verdict(each.solvedBefore)}:`,
    "",
    fenced(each.before),
    "",
    `After, ${verdict(each.solvedAfter)}:`,
    "",
    fenced(each.after),
    "",
  ]);
  const head = `# ${row}, seed ${seed}: greedy answers to ${answers.length} random held-out tasks`;
  const lines = [head, "", `Written by \`npm run bench -- models\` at commit ${commit}.`, "", ...parts.flat()];
  mkdirSync(join(HERE, "answers"), { recursive: true });
  writeFileSync(join(HERE, "answers", `${row}-${seed}.md`), lines.join("\n"));
}

const verdict = (solved: Answers["solvedAfter"]): string => (solved ? "solved" : "not solved");

/** Returns a fenced block of a text that may hold fences itself. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

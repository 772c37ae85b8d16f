/**
 * npm run bench -- models [--json] [--row NAME] [--seed N]: what a pretrained model learns by the configurations of examples/real. Each row is trained with seeds 0 and 1, one
 * after the other, and evaluated before and after on the same held-out tasks. A run that was interrupted is continued, and one whose result is stored is not
 * repeated until its configuration changes: results/ROW.json has the figures, answers/ROW.md what the policy wrote, and README.md the table.
 */
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";
import { enginePython } from "../train/compare-sides.ts";
import { requireGguf } from "./packages.ts";
import { readResults, writeAnswers, writeResults } from "./report.ts";
import { hashOf, ROWS, type Row } from "./rows.ts";
import { trainRow } from "./train-row.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, row: { type: "string" }, seed: { type: "string" } },
});
const chosen = values.row === undefined ? ROWS : ROWS.filter(({ name }) => name === values.row);
if (chosen.length === 0)
  throw new Error(`No row "${values.row}". There are: ${ROWS.map(({ name }) => name).join(", ")}.`);
const seeds = values.seed === undefined ? [0, 1] : [Number(values.seed)];
const python = enginePython();
for (const row of chosen) for (const seed of seeds) await complete(row, seed);

const figures: Record<string, number> = {};
for (const row of chosen)
  for (const { seed, before, after, difference } of readResults(row.name)?.seeds ?? []) {
    const name = `${row.name}_${seed}`;
    figures[`${name}_before`] = before.share;
    figures[`${name}_after`] = after.share;
    figures[`${name}_gain_low`] = difference[0];
  }
if (!values.json) console.table(figures);
printFigures("models", processor(), figures);

/** Trains a row with a seed where no result of this configuration is stored. */
async function complete(row: Row, seed: number): Promise<void> {
  const configuration = hashOf(row);
  const stored = readResults(row.name);
  if (stored?.configuration === configuration && stored.seeds.some((each) => each.seed === seed)) return;
  console.error(`${row.name}, seed ${seed}`);
  const { figures: result, answers } = await trainRow(row, seed, requireGguf(python, row.model));
  const others = stored?.configuration === configuration ? stored.seeds.filter((each) => each.seed !== seed) : [];
  const all = [...others, result].sort((a, b) => a.seed - b.seed);
  writeAnswers(row.name, result, answers);
  writeResults({ row: row.name, configuration, seeds: all });
}

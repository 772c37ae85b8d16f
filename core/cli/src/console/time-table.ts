import type { RunSummary } from "@mrlm/runtime";
import { duration } from "./numbers.ts";
import { table } from "./table.ts";

/** A remainder below this share of the iterations is measurement error and is not shown. */
const SMALL = 0.005;

/** Phases outside of the iterations. */
const BETWEEN = new Set(["evaluation", "checkpoint"]);

/** Formats the wall time of a run by phase; the shares add up to 100 %. */
export function timeTable({ seconds, trainingSeconds }: RunSummary): string {
  const within = Object.entries(seconds).reduce((sum, [phase, spent]) => sum + (BETWEEN.has(phase) ? 0 : spent), 0);
  const other = Math.max(0, trainingSeconds - within);
  const phases = [
    ...Object.entries(seconds),
    ...(other > SMALL * trainingSeconds ? [["rest of the iterations", other] as const] : []),
  ].toSorted(([, one], [, another]) => another - one);
  const total = phases.reduce((sum, [, spent]) => sum + spent, 0);
  const shares = roundedShares(phases.map(([, spent]) => spent));
  return table([
    ["time", "spent", "share"],
    ...phases.map(([phase, spent], i) => [phase, duration(spent), `${shares[i]} %`]),
    ["all", duration(total), "100 %"],
  ]);
}

/** Rounds shares to whole percents that add up to 100: the largest remainders are rounded up. */
function roundedShares(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const exact = values.map((value) => (total === 0 ? 0 : (100 * value) / total));
  const shares = exact.map(Math.floor);
  const missing = 100 - shares.reduce((sum, share) => sum + share, 0);
  const order = exact
    .map((value, i) => ({ i, rest: value - Math.floor(value) }))
    .toSorted((one, other) => other.rest - one.rest);
  for (const { i } of order.slice(0, missing)) shares[i] = (shares[i] as number) + 1;
  return shares;
}

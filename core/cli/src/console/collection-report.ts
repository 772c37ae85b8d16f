import { decimal } from "./numbers.ts";
import { table } from "./table.ts";

/** What came of the episodes, the ones that are not kept included. */
export function collectionReport(counts: Readonly<Record<string, number>>, filterReward: number | undefined): string {
  const count = (name: string): number => counts[name] ?? 0;
  const rows = [
    ["episodes played", String(count("episodes"))],
    ["failed", String(count("failed"))],
    ["unscored", String(count("unscored"))],
    ["ended by a limit", String(count("truncated"))],
    ["mean reward", decimal(count("scored") === 0 ? null : count("reward_sum") / count("scored"))],
    ...(filterReward === undefined ? [] : [[`below ${filterReward}, or without a score`, String(count("rows") - count("kept"))]]),
  ];
  return table([["collected", ""], ...rows]);
}

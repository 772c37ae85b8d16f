import { decimal, percent } from "./numbers.ts";
import { table } from "./table.ts";

/** Returns the share of the collected answers that `max_tokens` cut; `null` without answers. */
export function cutShare(counts: Readonly<Record<string, number>>): number | null {
  const { answers = 0, cut_answers: cut = 0 } = counts;
  return answers === 0 ? null : cut / answers;
}

/** Formats the counts of all episodes, including those that the filter drops. */
export function collectionReport(counts: Readonly<Record<string, number>>, filterReward: number | undefined): string {
  const count = (name: string): number => counts[name] ?? 0;
  const rows = [
    ["episodes played", String(count("episodes"))],
    ["failed", String(count("failed"))],
    ["unscored", String(count("unscored"))],
    ["truncated (ended by a limit)", String(count("truncated"))],
    ["answers cut by max_tokens", percent(cutShare(counts))],
    ["mean reward", decimal(count("scored") === 0 ? null : count("reward_sum") / count("scored"))],
    ...(filterReward === undefined
      ? []
      : [[`below ${filterReward}, or without a score`, String(count("rows") - count("kept"))]]),
  ];
  return table([["collected", ""], ...rows]);
}

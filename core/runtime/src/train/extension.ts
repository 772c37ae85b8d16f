import type { ResolvedConfig } from "../config/resolved-config.ts";
import { describeChange, type Extension } from "./learning.ts";

/** What a run that has become longer or shorter should be told: most of all what becomes of schedules. */
export function describeExtension({ changed, added, memory }: Extension, { stages }: ResolvedConfig): string[] {
  const lengths = changed.map(({ stage, before, after }) => {
    const { name, options } = stages[stage] as ResolvedConfig["stages"][number];
    return `Stage ${name} now has ${after} steps instead of ${before}. ${scheduleOf(options["lr_schedule"], before, after)}`;
  });
  const told = [
    ...lengths,
    ...memory.map(
      (change) =>
        `${describeChange(change)}: other numbers are computed at once, which takes a different amount of memory and may change the last bits of the result.`,
    ),
  ];
  return added === 0
    ? told
    : [
        ...told,
        `${added} ${added === 1 ? "stage was" : "stages were"} added at the end: ${stages
          .slice(-added)
          .map(({ name }) => name)
          .join(", ")}.`,
      ];
}

function scheduleOf(schedule: unknown, before: number, after: number): string {
  if (schedule === undefined || schedule === "constant")
    return "Its learning rate is constant and stays as it is: the result is the same as if it had had that many from the start.";
  const way =
    after > before
      ? "rises from where the old schedule had brought it"
      : "falls below where the old schedule had brought it";
  return `Its lr_schedule, ${String(schedule)}, now ends at step ${after} instead of ${before}: the learning rate ${way}, and the result differs from that of a run with that many steps from the start.`;
}

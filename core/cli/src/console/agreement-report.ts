import type { Agreement } from "@mrlm/runtime";
import type { MrlmError, Unscored } from "@mrlm/spec";
import { table } from "./table.ts";

/** Numbers of episodes by outcome. */
export interface AgreementCounts {
  readonly episodes: number;
  readonly judged: number;
  readonly failed: number;
  readonly unjudged: number;
  readonly lost: number;
  readonly firstLost?: MrlmError;
  /** The first reward that the judge could not compute. */
  readonly firstUnscored?: Unscored;
}

/** Formats the agreement of the judges of a run with another judge. */
export function agreementReport(
  { agents, verdicts, orders }: Agreement,
  { episodes, judged, failed, unjudged, lost, firstLost, firstUnscored }: AgreementCounts,
  { before, after }: { readonly before: readonly string[]; readonly after: string },
): string {
  const number = (value: number | undefined): string => (value === undefined ? "-" : value.toFixed(3));
  const share = ({ equal, of }: Agreement["verdicts"]): string =>
    of === 0 ? "none to compare" : `${equal} of ${of} (${((100 * equal) / of).toFixed(0)} %)`;
  const rows = agents.map(({ agent, scored, unscoredBefore, unscoredAfter, meanBefore, meanAfter, tau }) => [
    agent,
    String(scored),
    `${unscoredBefore} > ${unscoredAfter}`,
    number(meanBefore),
    number(meanAfter),
    number(tau),
  ]);
  return [
    `${judged} of ${episodes} episodes judged again: ${before.join(", ")} before, ${after} now`,
    "",
    table([["agent", "scored", "unscored", "mean before", "mean now", "rank correlation"], ...rows]),
    "",
    `equal verdicts            ${share(verdicts)}`,
    `equal orders of agents    ${share(orders)}`,
    ...(firstUnscored === undefined
      ? []
      : [`unscored now, the first: ${firstUnscored.code}: ${firstUnscored.message}`]),
    ...(failed === 0 ? [] : [`${failed} ${failed === 1 ? "episode" : "episodes"} had failed in the run`]),
    ...(unjudged === 0 ? [] : [`${unjudged} ended before a judge was asked`]),
    ...(firstLost === undefined
      ? []
      : [`${lost} could not be repeated, the first: ${firstLost.code}: ${firstLost.message}`]),
  ].join("\n");
}

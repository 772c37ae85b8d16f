import type { IterationReport, PolicyId } from "@mrlm/spec";

/** Returns one report for an iteration of several learners. Metrics and notices begin with the name of the policy; seconds are added. One report stays as it is. */
export function mergeReports(reports: readonly (readonly [PolicyId, IterationReport])[]): IterationReport {
  const [[, first], ...others] = reports as [readonly [PolicyId, IterationReport]];
  if (others.length === 0) return first;
  const seconds: Record<string, number> = {};
  for (const [, report] of reports)
    for (const [phase, spent] of Object.entries(report.seconds)) seconds[phase] = (seconds[phase] ?? 0) + spent;
  return {
    iteration: first.iteration,
    metrics: Object.fromEntries(
      reports.flatMap(([policy, { metrics }]) =>
        Object.entries(metrics).map(([name, value]) => [`${policy}/${name}`, value]),
      ),
    ),
    seconds,
    credits: reports.flatMap(([, { credits = [] }]) => credits),
    notices: reports.flatMap(([policy, { notices = [] }]) => notices.map((text) => `${policy}: ${text}`)),
  };
}

import { type Finding, short } from "../finding.ts";
import type { RunRecord } from "../run-record.ts";
import { judgePlayed } from "./played.ts";

/** Finds environments whose last evaluation is below their best one, with disjoint intervals. */
export function evaluationDrop({ evaluations }: RunRecord): Finding[] {
  return [...Map.groupBy(evaluations, ({ environment }) => environment)].flatMap(([environment, points]) => {
    const measured = points.filter(({ accuracy }) => accuracy !== null);
    const last = measured.at(-1);
    const best = measured.toSorted((one, other) => (other.accuracy as number) - (one.accuracy as number))[0];
    if (last === undefined || best === undefined || last === best) return [];
    const isApart =
      last.interval !== null && best.interval !== null
        ? last.interval[1] < best.interval[0]
        : (best.accuracy as number) - (last.accuracy as number) > 0.1;
    if (!isApart) return [];
    return [
      {
        rule: "evaluation-drop",
        severity: "problem" as const,
        what: `${environment}: greedy accuracy was ${short(best.accuracy as number)} after step ${best.step} and is ${short(last.accuracy as number)} after step ${last.step}.`,
        advice:
          "Training was too long or too strong: lower learning_rate, end earlier (until), or go back to an earlier checkpoint (checkpoint.keep, --resume CHECKPOINT).",
      },
    ];
  });
}

/** Rules about answers of the policy, and not about the environment. */
const OF_POLICY = ["truncation", "episodes-limited", "malformed-calls", "one-sided"];

/** Returns findings about each environment's last evaluation; earlier ones describe earlier policies. So does the first one of all, as soon as the run has trained. */
export function evaluatedEpisodes({ evaluations, stages }: RunRecord): Finding[] {
  const hasTrained = stages.some(({ iterations }) => iterations.length > 0);
  return [...Map.groupBy(evaluations, ({ environment }) => environment)].flatMap(([environment, points]) => {
    const last = points.at(-1);
    return (["greedy", "sampled"] as const).flatMap((kind) => {
      const summary = last?.[kind];
      const findings =
        summary === undefined
          ? []
          : judgePlayed({ ...summary, source: `The ${kind} evaluation of ${environment} after step ${last?.step}` });
      return hasTrained && last?.step === 0 ? findings.filter(({ rule }) => !OF_POLICY.includes(rule)) : findings;
    });
  });
}

import { rewardFindings } from "../diagnosis/diagnose.ts";
import type { Finding } from "../diagnosis/finding.ts";
import type { StageRecords } from "../diagnosis/run-record.ts";
import type { MetricsRow } from "../run/metrics-file.ts";

/** Finds rewards that are earned by something other than the task while a run trains: each finding once in a stage, and again if a hint becomes a problem. */
export class FindingWatch {
  readonly #stages: StageRecords;
  readonly #reported = new Set<string>();

  /** @param stages with the iterations before those that the run records from now on */
  constructor(stages: StageRecords) {
    this.#stages = stages;
  }

  /** Returns notices about findings that an iteration has brought. */
  note(row: MetricsRow): string[] {
    this.#stages.add(row);
    const stage = this.#stages.all.at(-1);
    if (stage === undefined) return [];
    const isNew = ({ rule, severity, what }: Finding): boolean => {
      // The place of a policy or a role stands before the numbers.
      const key = [this.#stages.all.length, rule, severity, /^(Policy|Role) [^:]+:/.exec(what)?.[0]].join(" ");
      return !this.#reported.has(key) && this.#reported.add(key).size > 0;
    };
    return rewardFindings(stage)
      .filter(isNew)
      .map(({ rule, severity, what, advice }) => `${severity}: ${what} ${advice} (${rule}: docs/train/diagnosis.md)`);
  }
}

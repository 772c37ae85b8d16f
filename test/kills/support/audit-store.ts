import type { DatabaseSync } from "node:sqlite";

/** Losses, repetitions and ages of groups in a finished run. */
export interface StoreAudit {
  /** Ids of groups that are in several batches. */
  readonly twice: readonly string[];
  /** Groups and batches that are missing, in words. */
  readonly lost: readonly string[];
  /** Largest age of a token that was learnt from, in weight versions. */
  readonly oldest: number;
  /** Cohorts that were played twice, of which the second commit was refused. */
  readonly late: number;
}

const LEARNT = "batches JOIN groups ON groups.key = batches.group_key WHERE batches.is_abandoned = 0";

const TWICE = `SELECT groups.id AS found FROM ${LEARNT} GROUP BY groups.id, batches.learner HAVING COUNT(*) > 1`;

/** Each row is a loss. */
const LOSSES = [
  // Groups that wait after the last step are not used: they are abandoned from the next step on.
  `SELECT 'cohort ' || subject || ' was committed and is not in the store' FROM events WHERE kind = 'committed'
   AND NOT EXISTS (SELECT 1 FROM cohorts WHERE cohorts.id = events.subject AND state = 'committed')
   AND NOT EXISTS (SELECT 1 FROM events AS unused WHERE unused.kind = 'abandoned' AND unused.step = :steps + 1 AND unused.number > events.number)`,
  `SELECT 'batch ' || steps.step || ', refill ' || takes.refill || ' lacks groups' FROM takes JOIN steps ON steps.key = takes.step
   WHERE steps.state <> 'abandoned' AND takes.count <>
   (SELECT COUNT(*) FROM batches WHERE batches.step = takes.step AND batches.refill = takes.refill AND batches.is_abandoned = 0)`,
  `SELECT 'batch ' || step || ' is ' || state FROM steps WHERE state <> 'applied'`,
  `SELECT 'episode ' || id || ' failed: ' || error FROM episodes WHERE error IS NOT NULL`,
  `SELECT 'group ' || groups.id || ' has ' || COUNT(episodes.key) || ' episodes' FROM ${LEARNT.replace("WHERE", "LEFT JOIN episodes ON episodes.group_key = groups.key WHERE")}
   GROUP BY groups.key HAVING COUNT(episodes.key) <> :size`,
  // Groups are taken in the order of opening: one that waits has a higher number than those that were taken.
  `SELECT 'group ' || waiting.id || ' was passed over by batch ' || taken.step FROM groups AS waiting JOIN cohorts ON cohorts.key = waiting.cohort
   JOIN events AS committed ON committed.kind = 'committed' AND committed.subject = cohorts.id
   JOIN (SELECT number, subject, step, ROW_NUMBER() OVER (PARTITION BY subject, step ORDER BY number) - 1 AS refill FROM events WHERE kind = 'taken') AS taken
     ON taken.subject = cohorts.learner AND taken.number > committed.number
   JOIN steps ON steps.learner = taken.subject AND steps.step = taken.step AND steps.state <> 'abandoned'
   WHERE cohorts.purpose = 'train' AND cohorts.state = 'committed' AND cohorts.step = 0
   AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.group_key = waiting.key AND batches.is_abandoned = 0)
   AND EXISTS (SELECT 1 FROM batches JOIN groups ON groups.key = batches.group_key JOIN cohorts AS younger ON younger.key = groups.cohort
     WHERE batches.step = steps.key AND batches.refill = taken.refill AND younger.part > cohorts.part)`,
  `SELECT 'group ' || groups.id || ' is in no batch' FROM groups JOIN cohorts ON cohorts.key = groups.cohort
   WHERE cohorts.purpose = 'train' AND cohorts.state = 'committed' AND cohorts.step > 0
   AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.group_key = groups.key AND batches.is_abandoned = 0)`,
] as const;

/**
 * Compares the log of a finished run's store with its content.
 * @param database store of the run
 * @param steps number of batches that it has learnt from
 * @param groupSize episodes of a group
 */
export function auditStore(database: DatabaseSync, steps: number, groupSize: number): StoreAudit {
  const texts = (sql: string): string[] => {
    const statement = database.prepare(sql);
    statement.setAllowUnknownNamedParameters(true);
    return statement.all({ steps, size: groupSize }).map((row) => String(Object.values(row)[0]));
  };
  const applied = Number(texts("SELECT COUNT(*) FROM steps WHERE state = 'applied'")[0]);
  return {
    twice: texts(TWICE),
    lost: [...LOSSES.flatMap(texts), ...(applied === steps ? [] : [`${applied} of ${steps} batches were learnt from`])],
    oldest: Number(texts("SELECT COALESCE(MAX(max_age), 0) FROM v_staleness")[0]),
    late: Number(texts("SELECT COUNT(*) FROM events WHERE kind = 'late'")[0]),
  };
}

import { DatabaseSync } from "node:sqlite";
import { RunDirectory } from "@mrlm/runtime";
import { StoredSegments } from "@mrlm/store";

/** Groups of training in the store of a run that has ended. */
export interface GroupCounts {
  readonly opened: number;
  /** Learnt from. */
  readonly learnt: number;
  /** In a batch and refused: too old, or not accepted by the algorithm. */
  readonly refused: number;
  /** In more than one batch. */
  readonly twice: number;
  /** In no batch. */
  readonly left: number;
  /** Opened since the oldest group that is in no batch. */
  readonly openedSinceLeft: number;
  /** Episodes that ended by an error. */
  readonly failed: number;
}

/** Counts the groups of a run. */
export function groupCounts(run: string): GroupCounts {
  const database = new DatabaseSync(RunDirectory.open(run).episodesPath, { readOnly: true });
  const count = (sql: string): number =>
    Number(database.prepare(`SELECT COUNT(*) AS count FROM ${sql}`).get()?.["count"]);
  const taken = "batches WHERE is_abandoned = 0";
  const opened = "cohorts JOIN groups ON groups.cohort = cohorts.key WHERE purpose = 'train'";
  const left = `${opened} AND groups.key NOT IN (SELECT group_key FROM ${taken})`;
  try {
    return {
      opened: count(opened),
      learnt: count(`${taken} AND is_refused = 0`),
      refused: count(`${taken} AND is_refused = 1`),
      twice: count(`(SELECT 1 FROM ${taken} GROUP BY group_key, learner HAVING COUNT(*) > 1)`),
      left: count(left),
      openedSinceLeft: count(`${opened} AND groups.key >= (SELECT MIN(groups.key) FROM ${left})`),
      failed: count("episodes WHERE error IS NOT NULL"),
    };
  } finally {
    database.close();
  }
}

/** Number of the tokens that were sampled for training, and their versions, each once. */
export function sampledTokens(run: string): { readonly tokens: number; readonly versions: readonly number[] } {
  const segments = new StoredSegments(RunDirectory.open(run).store);
  try {
    let tokens = 0;
    const found = new Set<number>();
    for (const place of segments.places()) {
      const { mask, versions } = segments.read(place);
      for (const [i, isSampled] of mask.entries())
        if (isSampled === 1) {
          tokens++;
          found.add(versions[i] as number);
        }
    }
    return { tokens, versions: [...found] };
  } finally {
    segments.close();
  }
}

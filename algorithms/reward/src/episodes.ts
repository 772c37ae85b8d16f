import {
  isLearnable,
  type JsonValue,
  learntRowReward,
  MrlmError,
  parseRecordedRow,
  type RecordedRow,
} from "@mrlm/kit/learning";

/** Two recorded episodes of one group with different rewards. */
export interface EpisodePair {
  readonly chosen: RecordedRow;
  readonly rejected: RecordedRow;
  /** Difference of the rewards, above 0. */
  readonly difference: number;
}

/**
 * Returns all pairs with different rewards among the episodes of each group and role: every comparison that the rewards state. Failed and unscored episodes, and those of
 * other players, are in none. Throws DATA_INVALID where there is no pair.
 */
export function episodePairs(values: readonly JsonValue[], path: string): EpisodePair[] {
  const rows = values.map((value, index) => parseRecordedRow(value, `${path}:${index + 1}`));
  const groups = Map.groupBy(
    rows.filter((row) => isLearnable(row)),
    ({ group, role }) => JSON.stringify([group, role]),
  );
  const pairs = [...groups.values()].flatMap((members) =>
    members.flatMap((one, i) =>
      members.slice(i + 1).flatMap((other): EpisodePair[] => {
        const difference = (learntRowReward(one) as number) - (learntRowReward(other) as number);
        if (difference === 0) return [];
        const [chosen, rejected] = difference > 0 ? [one, other] : [other, one];
        return [{ chosen, rejected, difference: Math.abs(difference) }];
      }),
    ),
  );
  if (pairs.length > 0) return pairs;
  throw new MrlmError("DATA_INVALID", `${path} has no two scored episodes of one task with different rewards.`, {
    hint: "Collect several of each task: mrlm collect --group-size 8.",
  });
}

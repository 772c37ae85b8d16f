import { isOfOtherPlayer, type RecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import type { RunDirectory } from "../run/run-directory.ts";
import type { EpisodeReader } from "@mrlm/store";
import { GREEDY } from "../evaluation/evaluate.ts";

/** One held-out task, answered greedily by the first and by the last policy of a run. */
export interface BeforeAndAfter {
  readonly environment: string;
  readonly task: string;
  readonly before: RecordedRow;
  readonly after: RecordedRow;
}

/**
 * Returns two tasks of a run's first and last evaluation: the first that earned more afterwards, and the first that did
 * not and still has not the best reward, or, without such a task, another one. Empty where the evaluations were not
 * kept, or there was one alone.
 */
export function beforeAndAfter(run: RunDirectory): BeforeAndAfter[] {
  const reader = run.readEpisodes();
  if (reader === undefined) return [];
  try {
    const { first, last } = reader.evaluationSteps();
    if (first === undefined || last === undefined || first === last) return [];
    const [before, after] = [rowsAt(reader, first), rowsAt(reader, last)];
    const pairs = [...after].flatMap(([key, row]) => {
      const earlier = before.get(key);
      return earlier === undefined
        ? []
        : [{ environment: row.environment, task: row.task, before: earlier, after: row }];
    });
    return chosen(pairs);
  } finally {
    reader.close();
  }
}

function chosen(pairs: readonly BeforeAndAfter[]): BeforeAndAfter[] {
  const scored = pairs.filter(({ before, after }) => before.reward !== null && after.reward !== null);
  const gain = ({ before, after }: BeforeAndAfter): number => (after.reward as number) - (before.reward as number);
  const best = Math.max(...scored.map(({ after }) => after.reward as number));
  const first = scored.find((pair) => gain(pair) > 0);
  const rest = scored.filter((pair) => pair !== first);
  if (first === undefined) return scored.slice(0, 2);
  const isShort = ({ after }: BeforeAndAfter): boolean => (after.reward as number) < best;
  const second =
    rest.find((pair) => gain(pair) <= 0 && isShort(pair)) ?? rest.find((pair) => gain(pair) > 0) ?? rest[0];
  return [first, ...(second === undefined ? [] : [second])];
}

/** Returns the greedy episodes by what stays the same from one evaluation to the next. */
function rowsAt(reader: EpisodeReader, step: number): Map<string, RecordedRow> {
  const rows = reader
    .evaluation(step, GREEDY)
    .flatMap((trajectory) => toRecordedRows(trajectory, () => ""))
    .filter((row) => !isOfOtherPlayer(row));
  return new Map(rows.map((row) => [JSON.stringify([row.environment, row.task, row.agent]), row]));
}

import { appendFileSync } from "node:fs";
import { isOfOtherPlayer, type RecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import type { TaskId, Trajectory } from "@mrlm/spec";
import { episodeText, outcomeLines } from "../console/episode-text.ts";
import type { Seat } from "./seat.ts";

/** Episodes of one task. */
export interface TriedTask {
  readonly task: TaskId;
  /** Those that the person has played. */
  readonly own: readonly Trajectory[];
  /** Those of the model. */
  readonly others: readonly Trajectory[];
}

/** Shows the episodes of a task, and asks the person which one is best. */
export class Ratings {
  readonly #seat: Seat;
  readonly #file: string | undefined;
  readonly #signal: AbortSignal;

  /** @param parts.file receives the rated episodes as lines of JSON; without it nothing is asked */
  constructor(parts: { readonly seat: Seat; readonly file: string | undefined; readonly signal: AbortSignal }) {
    this.#seat = parts.seat;
    this.#file = parts.file;
    this.#signal = parts.signal;
  }

  /**
   * Returns false where the person leaves.
   * @param run names the group of the episodes
   */
  async rate({ task, own, others }: TriedTask, run: string): Promise<boolean> {
    const all = [...own, ...others].map((episode, i) => ({ episode, number: i + 1 }));
    this.#show(own.length, all);
    // Failed episodes have no outcome to rate. They keep their numbers.
    const rated = all.filter(({ episode }) => episode.error === undefined);
    if (this.#file === undefined || rated.length === 0) return true;
    const none = { key: "", label: "no rating" };
    const labelOf = (number: number): string => (number <= own.length ? "yours" : `episode ${number}`);
    const [question, choices] =
      rated.length === 1
        ? [
            "Good?",
            [
              { key: "y", label: "yes" },
              { key: "n", label: "no" },
            ],
          ]
        : ["Which is best?", rated.map(({ number }) => ({ key: String(number), label: labelOf(number) }))];
    const chosen = await this.#seat.choose(question, { choices: [...choices, none], signal: this.#signal });
    if (chosen === undefined) return false;
    if (chosen === "") return true;
    const isBest = (number: number): boolean => (rated.length === 1 ? chosen === "y" : chosen === String(number));
    const rows = rated.flatMap(({ episode, number }, i) =>
      ratedRows(episode, isBest(number) ? 1 : 0, `${run}/${task}`, i),
    );
    appendFileSync(this.#file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return true;
  }

  #show(own: number, all: readonly { readonly episode: Trajectory; readonly number: number }[]): void {
    for (const { episode, number } of all) {
      const rows = rowsOf(episode);
      if (number <= own) for (const row of rows) this.#seat.show(`your episode\n${outcomeLines(row)}`);
      else this.#seat.show(`\nepisode ${number}: ${rows.map((row) => episodeText({ row })).join("\n\n")}`);
    }
  }
}

const rowsOf = (episode: Trajectory): RecordedRow[] =>
  toRecordedRows(episode, () => "").filter((row) => !isOfOtherPlayer(row));

/** Returns the rows of an episode with the person's reward in place of that of the environment, which becomes a component. */
function ratedRows(episode: Trajectory, reward: number, group: string, member: number): RecordedRow[] {
  return rowsOf(episode).map(({ shared: _, unscored: __, ...row }) => ({
    ...row,
    ...{ group, member, reward, components: { environment: row.reward } },
  }));
}

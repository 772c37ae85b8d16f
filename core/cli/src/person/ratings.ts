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
    // Failed episodes have no outcome to rate.
    const episodes = [...own, ...others].filter(({ error }) => error === undefined);
    this.#show({ task, own, others });
    if (this.#file === undefined || episodes.length === 0) return true;
    const none = { key: "", label: "no rating" };
    const [question, choices] =
      episodes.length === 1
        ? [
            "Good?",
            [
              { key: "y", label: "yes" },
              { key: "n", label: "no" },
            ],
          ]
        : [
            "Which is best?",
            episodes.map((episode, i) => ({
              key: `${i + 1}`,
              label: own.includes(episode) ? "yours" : `episode ${i + 1}`,
            })),
          ];
    const chosen = await this.#seat.choose(question, { choices: [...choices, none], signal: this.#signal });
    if (chosen === undefined) return false;
    if (chosen === "") return true;
    const best = chosen === "y" ? 1 : Number(chosen);
    const rows = episodes.flatMap((episode, i) => ratedRows(episode, i + 1 === best ? 1 : 0, `${run}/${task}`, i));
    appendFileSync(this.#file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return true;
  }

  #show({ own, others }: TriedTask): void {
    for (const row of own.flatMap(rowsOf)) this.#seat.show(`your episode\n${outcomeLines(row)}`);
    for (const [i, episode] of others.entries())
      this.#seat.show(
        `\nepisode ${own.length + i + 1}: ${rowsOf(episode)
          .map((row) => episodeText({ row }))
          .join("\n\n")}`,
      );
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

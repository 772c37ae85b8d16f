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
    // What failed has no outcome to like.
    const episodes = [...own, ...others].filter(({ error }) => error === undefined);
    this.#show({ task, own, others });
    if (this.#file === undefined || episodes.length === 0) return true;
    const [name, count] = [own.length > 0 ? "1: yours" : "1", episodes.length];
    const question =
      count === 1 ? "good? y, n, Enter for no rating" : `which is best? ${name} to ${count}, Enter for no rating`;
    for (;;) {
      const text = (await this.#seat.ask(question, { signal: this.#signal, isOptional: true }))?.trim();
      if (text === undefined || text === "/quit") return false;
      if (text === "") return true;
      const rewards = rewardsOf(text, count);
      if (rewards === undefined) continue;
      const rows = episodes.flatMap((episode, i) => ratedRows(episode, rewards[i] as number, `${run}/${task}`, i));
      appendFileSync(this.#file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      return true;
    }
  }

  #show({ own, others }: TriedTask): void {
    for (const row of own.flatMap(rowsOf)) this.#seat.show(`your episode\n${outcomeLines(row)}`);
    for (const [i, episode] of others.entries())
      this.#seat.show(
        `\n${own.length + i + 1}: ${rowsOf(episode)
          .map((row) => episodeText({ row }))
          .join("\n\n")}`,
      );
  }
}

/** Returns the rewards that an answer gives to the episodes; `undefined` for any other text. */
function rewardsOf(text: string, count: number): number[] | undefined {
  if (count === 1) return /^[yn]$/i.test(text) ? [text.toLowerCase() === "y" ? 1 : 0] : undefined;
  const best = /^\d+$/.test(text) ? Number(text) : 0;
  if (best < 1 || best > count) return undefined;
  return Array.from({ length: count }, (_, i) => (i + 1 === best ? 1 : 0));
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

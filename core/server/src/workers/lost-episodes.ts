import type { MrlmError } from "@mrlm/spec";

/** Losses of one episode. */
interface Losses {
  readonly owner: string;
  /** Workers that it lost for a reason that could not be attributed. */
  count: number;
  /** Why it is not restored; with the epoch of its session that ended. */
  end?: { readonly error: MrlmError; readonly epoch: number };
  expiresAt: number;
}

/** Time for which an episode is remembered, in milliseconds. */
const REMEMBERED_MS = 600_000;
const MAX_EPISODES = 100_000;

/** Episodes that lost a worker, so that none ends one worker after the other. An episode is known by the id of its first session. */
export class LostEpisodes {
  readonly #episodes = new Map<string, Losses>();

  /** Counts the loss of a worker. @returns the number of losses */
  add(episode: string, owner: string): number {
    return ++this.#of(episode, owner).count;
  }

  /** Records that an episode has ended with an error. */
  end(episode: string, owner: string, epoch: number, error: MrlmError): void {
    this.#of(episode, owner).end = { error, epoch };
  }

  /** Returns the error with which the episode ended, if it has ended and no later reset began another. */
  endOf(episode: string, owner: string, epoch: number): MrlmError | undefined {
    const known = this.#episodes.get(episode);
    if (known?.owner !== owner || known.end === undefined || epoch > known.end.epoch) return undefined;
    return known.end.error;
  }

  #of(episode: string, owner: string): Losses {
    const now = performance.now();
    const known = this.#episodes.get(episode);
    const losses: Losses = known?.owner === owner ? known : { owner, count: 0, expiresAt: 0 };
    losses.expiresAt = now + REMEMBERED_MS;
    // The map is in the order of the latest losses.
    this.#episodes.delete(episode);
    this.#episodes.set(episode, losses);
    for (const [oldest, { expiresAt }] of this.#episodes) {
      if (expiresAt > now && this.#episodes.size <= MAX_EPISODES) break;
      this.#episodes.delete(oldest);
    }
    return losses;
  }
}

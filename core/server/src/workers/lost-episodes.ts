import type { MrlmError } from "@mrlm/spec";

/** Losses of one episode. */
interface Losses {
  readonly owner: string;
  /** Workers that it lost for a reason that could not be attributed. */
  count: number;
  /** Least index of a request that was under way when it lost one: the step, -1 for a reset. */
  index: number;
  /** Error for which it is not restored, with the epoch of its session that ended. */
  end?: { readonly error: MrlmError; readonly epoch: number };
  expiresAt: number;
}

/** Time for which an episode is remembered, in milliseconds. */
const REMEMBERED_MS = 600_000;
const MAX_EPISODES = 100_000;

/** Episodes that lost a worker, so that none ends one worker after the other. An episode is known by the id of its first session. */
export class LostEpisodes {
  readonly #episodes = new Map<string, Losses>();

  /** Counts the loss of a worker. @param index that of the latest request @returns the number of losses */
  add(episode: string, owner: string, index: number): number {
    const losses = this.#of(episode, owner);
    losses.index = Math.min(losses.index, index);
    return ++losses.count;
  }

  /** Returns the index of the first request that may have ended a worker; `undefined` for an episode that is not suspected. */
  suspectIndex(episode: string, owner: string): number | undefined {
    const known = this.#episodes.get(episode);
    return known?.owner === owner && known.count > 0 ? known.index : undefined;
  }

  /** Forgets the losses of an episode, which has passed the request that was suspected. */
  acquit(episode: string): void {
    this.#episodes.delete(episode);
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
    const losses: Losses = known?.owner === owner ? known : { owner, count: 0, index: Infinity, expiresAt: 0 };
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

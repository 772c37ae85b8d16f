/** Shape of asynchronous play, for {@link paceBound}. */
export interface Pace {
  /** Largest age of a token, in takes. */
  readonly lag: number;
  /** Number of groups of a take. */
  readonly groups: number;
  /** Seconds from a take to the publication of the weights that learnt from it. */
  readonly learnSeconds: number;
  /** Seconds of the play of each group, in the order of opening: whole takes. */
  readonly durations: readonly number[];
}

/**
 * Returns the seconds in which each take can be made at the earliest, where as many places are free as groups are open. Take k, from 0, is of the groups
 * from k × groups on. None of them begins before the weights of version k - lag are published, or it would be older than the lag when it is learnt from:
 *
 *     take(k) = max(published(k), max over its groups of published(max(0, k - lag)) + duration),  published(k) = take(k - 1) + learnSeconds
 *
 * If all takes have the same slowest duration d, lag + 1 takes are made in d + learnSeconds, and a take in turn needs as long: the bound is lag + 1 times
 * the groups a second of play in turn, or one take in `learnSeconds`. A lag of 0 is play in turn.
 */
export function paceBound({ lag, groups, learnSeconds, durations }: Pace): number[] {
  const takes: number[] = [];
  const published = (version: number): number => (version === 0 ? 0 : (takes[version - 1] as number) + learnSeconds);
  for (let k = 0; (k + 1) * groups <= durations.length; k++) {
    const slowest = Math.max(...durations.slice(k * groups, (k + 1) * groups));
    takes.push(Math.max(published(k), published(Math.max(0, k - lag)) + slowest));
  }
  return takes;
}

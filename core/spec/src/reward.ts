/**
 * Largest absolute value of a reward, of its components, and of the sum of an agent's rewards in an episode. The squares of larger ones, summed over a batch,
 * are not finite: an episode with one is not scored.
 */
export const MAX_REWARD = 1e150;

/** Computed reward. */
export interface Score {
  readonly scored: true;
  /** Number that training uses, at most {@link MAX_REWARD} from 0. */
  readonly value: number;
  /** Parts of the reward by name, for reports; each at most {@link MAX_REWARD} from 0. */
  readonly components: Readonly<Record<string, number>>;
}

/** Reward that could not be computed, for example because a sandbox failed. It is never a 0: training drops it and counts it. */
export interface Unscored {
  readonly scored: false;
  /** Stable code of the cause, for example SCORER_FAILED. */
  readonly code: string;
  readonly message: string;
}

/** Reward of an agent for one step. */
export type Reward = Score | Unscored;

/** Returns a computed reward. */
export function score(value: number, components: Readonly<Record<string, number>> = {}): Score {
  return { scored: true, value, components };
}

/** Returns a reward that could not be computed, with its cause. */
export function unscored(code: string, message: string): Unscored {
  return { scored: false, code, message };
}

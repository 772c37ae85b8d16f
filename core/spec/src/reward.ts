/** A reward that was computed. */
export interface Score {
  readonly scored: true;
  /** What training uses. Finite. */
  readonly value: number;
  /** What it is made of, by name, for reports. Finite. */
  readonly components: Readonly<Record<string, number>>;
}

/** A reward that could not be computed: the judge is down, the sandbox died. Never a zero; a trainer drops it and counts it. */
export interface Unscored {
  readonly scored: false;
  /** Stable code of the cause. */
  readonly code: string;
  readonly message: string;
}

/** What an agent earned by a step. */
export type Reward = Score | Unscored;

/** A computed reward. */
export function score(value: number, components: Readonly<Record<string, number>> = {}): Score {
  return { scored: true, value, components };
}

/** A reward that could not be computed, and why. */
export function unscored(code: string, message: string): Unscored {
  return { scored: false, code, message };
}

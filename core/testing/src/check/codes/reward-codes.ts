/** Codes of findings about rewards, and of strategies that solve nothing. */
export const REWARD_CODES = {} as const;

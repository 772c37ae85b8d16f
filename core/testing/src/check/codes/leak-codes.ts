/** Codes of findings about resources that remain, aborts and blocked event loops. */
export const LEAK_CODES = {} as const;

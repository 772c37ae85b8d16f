/** Codes of findings about determinism and seeds. */
export const DETERMINISM_CODES = {} as const;

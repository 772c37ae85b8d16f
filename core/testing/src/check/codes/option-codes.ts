/** Codes of findings about options and their schemas. */
export const OPTION_CODES = {} as const;

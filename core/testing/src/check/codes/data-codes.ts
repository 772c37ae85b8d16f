/** Codes of findings about what an environment returns: JSON, sizes, ends, new messages. */
export const DATA_CODES = {} as const;

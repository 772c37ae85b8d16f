/** Codes of findings about scorers, judges, toolsets, sandboxes, policies and algorithms, and of their failures. */
export const SERVICE_CODES = {} as const;

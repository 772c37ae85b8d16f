/** Codes of findings about options and their schemas. */
export const OPTION_CODES = {
  OPTIONS_DISAGREE: {
    severity: "error",
    title: "`options` and `optionsJsonSchema` do not accept the same options.",
    fix: "Leave `optionsJsonSchema` out, so that `defineEnvironment` derives it, or correct it.",
  },
  OPTION_DEFAULT_INVALID: {
    severity: "error",
    title: "The schema of the options refuses a default that it states.",
    fix: "State a default that the schema accepts, and that gives the same options as leaving it out.",
  },
  OPTION_UNKNOWN_ACCEPTED: {
    severity: "error",
    title: "An unknown option is accepted: a misspelt one would have no effect.",
    fix: "Describe the options by a strict schema, such as `z.strictObject({ ... })`.",
    implies: ["OPTIONS_DISAGREE"],
  },
} as const;

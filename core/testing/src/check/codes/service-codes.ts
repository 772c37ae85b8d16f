/** Codes of findings about scorers, judges, toolsets, sandboxes, policies and algorithms, and about their failures. */
export const SERVICE_CODES = {
  FAILURE_SCORED: {
    severity: "error",
    title:
      "A scorer, judge, sandbox or tool failed, and the reward is a number: training learns from it as if the answer were wrong.",
    fix: "Pass on a reward that is not scored, or return `unscored(code, message)`. Do not catch errors of services.",
  },
} as const;

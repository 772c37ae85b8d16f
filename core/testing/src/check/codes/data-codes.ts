/** Codes of findings about the values that an environment returns. */
export const DATA_CODES = {
  END_CONTRADICTED: {
    severity: "error",
    title: "An agent is both terminated and truncated, or has ended and is then reported as not ended.",
    fix: "Return `terminated` if the rules of the task ended the episode, else `truncated` if a limit did. Do not take either back.",
  },
  GOLD_TRUNCATED: {
    severity: "warning",
    title: "A limit ends a gold fixture, not the rules of the task.",
    fix: "Return `terminated` when the task is solved, and raise the limit if a right answer reaches it.",
    once: true,
  },
  MEMBER_UNKNOWN: {
    severity: "warning",
    title: "A returned value has a member that the interface does not have. The host drops it.",
    fix: "Correct its name, or put it into `info`.",
  },
  MESSAGE_TOO_LARGE: {
    severity: "error",
    title: "A message has more than 1 MiB.",
    fix: "Shorten what the environment quotes, and state in the message that it was shortened.",
  },
  TEXT_CUT: {
    severity: "error",
    title: "A text has half of a character: a surrogate without its partner.",
    fix: 'Cut texts between characters: `[...text].slice(0, n).join("")`, or `text.toWellFormed()` after a cut.',
    implies: ["TRANSPORTS_DIFFER"],
  },
  VALUE_CHANGED: {
    severity: "error",
    title: "A value changed after the environment had returned it.",
    fix: "Return a copy of values that the environment changes later: `structuredClone(state)`.",
    implies: ["TRANSPORTS_DIFFER"],
  },
  VALUE_NOT_JSON: {
    severity: "error",
    title: "A returned value is not JSON.",
    fix: "Return plain objects, arrays, texts, finite numbers, booleans and null: a date as a text, a map as an object, no `undefined`.",
    implies: ["TRANSPORTS_DIFFER", "VALUE_MALFORMED"],
  },
} as const;

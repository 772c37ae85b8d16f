/** Codes of the engine's process. */
export const ENGINE_CODES = {
  ENGINE_EXITED: {
    meaning: "The engine process ended while it was needed.",
    hint: "Read the quoted log.",
    retryable: false,
  },
  ENGINE_FAILED: {
    meaning: "The engine could not carry out a call.",
    hint: "Read the quoted cause.",
    retryable: false,
  },
  ENGINE_NOT_SET_UP: {
    meaning: "The engine's Python environment is not installed.",
    hint: "Run `mrlm engine setup`.",
    retryable: false,
  },
  ENGINE_START_FAILED: {
    meaning: "The engine process did not come up.",
    hint: "Read the quoted log.",
    retryable: false,
  },
  ENGINE_UNAVAILABLE: {
    meaning: "The engine cannot be reached.",
    hint: "Check that it runs and that its address is right.",
    retryable: true,
  },
} as const;

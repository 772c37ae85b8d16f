/** Codes of environments whose episodes are runs of a program. */
export const AGENT_CODES = {
  AGENT_CUT: {
    meaning: "A limit of the run ended an episode before its program: `score` was not called.",
    hint: "The reward is unscored and counted. Raise or remove `max_turns` of the environment: `limits.calls` of the program ends it with a score.",
    retryable: false,
  },
  AGENT_FAILED: {
    meaning: "The program of an agent environment ended before its first call of the model.",
    hint: "Read the quoted cause. A client that ignores `model.fetch` needs the address of `model.listen()`.",
    retryable: false,
  },
  AGENT_LISTEN_FAILED: {
    meaning: "No address could be opened for the programs of an agent environment.",
    hint: "Read the quoted cause; pass `model.fetch` to clients that take one, which need no address.",
    retryable: true,
  },
  AGENT_SCORE_FAILED: {
    meaning: "The function `score` of an agent environment threw, or returned no reward for an agent.",
    hint: "The reward is unscored and counted; correct `score`.",
    retryable: false,
  },
} as const;

/** Codes of bridges: environments that play on a running server of another framework. */
export const BRIDGE_CODES = {
  BRIDGE_FAILED: {
    meaning:
      "The server of a bridged environment reports a fault of its own; the step has no reward, or the episode did not begin.",
    hint: "Read the quoted answer, and the log of that server.",
    retryable: true,
  },
  BRIDGE_FULL: {
    meaning: "The server of a bridged environment has had no free session for the whole `wait_ms`.",
    hint: "Raise the number of sessions of that server, or set `max_sessions` of the bridge to it.",
    retryable: true,
  },
  BRIDGE_LOST: {
    meaning:
      "The connection to the server of a bridged environment ended in mid-episode, and the episode could not be continued.",
    hint: "The reward is unscored and counted; check whether that server restarts or ends idle sessions.",
    retryable: true,
  },
  BRIDGE_REFUSED: {
    meaning:
      "The server of a bridged environment refuses a request: a wrong token, an unknown environment, task or route.",
    hint: "Read the quoted answer; check `url`, `token_env`, `environment` and `splits`.",
    retryable: false,
  },
  BRIDGE_RESPONSE_INVALID: {
    meaning: "The server of a bridged environment answered with something that is not of its protocol.",
    hint: "The message names the field; check `url`, and that the server implements the protocol of this bridge.",
    retryable: false,
  },
  BRIDGE_REWARD_INVALID: {
    meaning: "The server of a bridged environment sent a reward that is no finite number, for example NaN.",
    hint: "The reward is unscored and counted; correct the reward of that environment.",
    retryable: false,
  },
  BRIDGE_REWARD_MISSING: {
    meaning: "An episode of a bridged environment ended, and its server sent no reward in it.",
    hint: "The reward is unscored and counted; see `max_turns` and `cut_reward` for episodes that the bridge ends.",
    retryable: false,
  },
  BRIDGE_TIMEOUT: {
    meaning: "The server of a bridged environment did not answer in time.",
    hint: "Raise `timeouts`, or make that environment quicker.",
    retryable: true,
  },
  BRIDGE_UNREACHABLE: {
    meaning: "The server of a bridged environment cannot be reached.",
    hint: "Check that it runs, and `url`.",
    retryable: true,
  },
} as const;

/** Codes of endpoints, which are services that answer with a model over HTTP, and of judges that ask one. */
export const ENDPOINT_CODES = {
  ENDPOINT_BUDGET_SPENT: {
    meaning: "The budget of a model client is spent. No request was sent.",
    hint: "Raise `budget`, or end the work.",
    retryable: false,
  },
  ENDPOINT_CONTEXT_TOO_LONG: {
    meaning: "A request is longer than the context of the endpoint's model.",
    hint: "Shorten the conversation, lower `max_tokens`, or use a model with a longer context.",
    retryable: false,
  },
  ENDPOINT_FAILED: {
    meaning: "An endpoint reports a fault of its own (status 408, 409 or 5xx), after all retries.",
    hint: "Read the quoted answer; check the server, or name a second model to fail over to.",
    retryable: true,
  },
  ENDPOINT_KEY_INVALID: {
    meaning: "An endpoint refuses the API key (status 401 or 403), or the key cannot be a header.",
    hint: "Check the environment variable that `api_key_env` names, and the rights of the key.",
    retryable: false,
  },
  ENDPOINT_KEY_MISSING: {
    meaning: "The environment variable that holds an API key is not set.",
    hint: "Set the named variable, or leave out `api_key_env` for an endpoint without a key.",
    retryable: false,
  },
  ENDPOINT_MODEL_NOT_FOUND: {
    meaning: "An endpoint has no model, or no chat completions, at the address (status 404 or a redirect).",
    hint: "Check `model` and `base_url`; most servers need /v1 at its end.",
    retryable: false,
  },
  ENDPOINT_OUTPUT_CUT: {
    meaning: "A model's output ended at its token limit.",
    hint: "Raise `max_tokens`; reasoning models spend a part of it before they answer.",
    retryable: false,
  },
  ENDPOINT_OUTPUT_EMPTY: {
    meaning: "A model returned no text: null, an empty text, or reasoning alone.",
    hint: "Raise `max_tokens`, or use another model.",
    retryable: false,
  },
  ENDPOINT_OUTPUT_FILTERED: {
    meaning: "A model refused to answer, or a filter of its endpoint removed the answer.",
    hint: "Read the quoted refusal; use another model.",
    retryable: false,
  },
  ENDPOINT_OUTPUT_INVALID: {
    meaning: "A model's output is not of the requested form, also after it was asked twice to repair it.",
    hint: "Read the quoted output; use a model that supports structured output.",
    retryable: false,
  },
  ENDPOINT_RATE_LIMITED: {
    meaning: "An endpoint limits the rate of requests (status 429), after all retries.",
    hint: "Lower `concurrency`, or raise the limit of the account.",
    retryable: true,
  },
  ENDPOINT_RECORDING_MISSING: {
    meaning: "A request has no recorded answer, and the cache sends no requests.",
    hint: "Record it with the mode `replay`, or check that the options are those of the recording.",
    retryable: false,
  },
  ENDPOINT_REQUEST_REFUSED: {
    meaning: "An endpoint refuses a request as wrong (status 400, 413, 422 or another of the class 4xx).",
    hint: "Read the quoted answer: it names the parameter that the endpoint does not accept.",
    retryable: false,
  },
  ENDPOINT_RESPONSE_INVALID: {
    meaning: "An endpoint answered with something that is no chat completion, for example an HTML page.",
    hint: "Check `base_url`: another service, or a proxy, answers there.",
    retryable: false,
  },
  ENDPOINT_TIMEOUT: {
    meaning: "An endpoint did not answer in time, or a request waited too long for its turn.",
    hint: "Raise `timeout_ms` or the deadline of the caller, or raise `concurrency` if requests wait.",
    retryable: true,
  },
  ENDPOINT_UNREACHABLE: {
    meaning: "An endpoint cannot be reached, or it closes connections before it has answered.",
    hint: "Check that it runs, and `base_url`.",
    retryable: true,
  },
  JUDGE_CONTRADICTORY: {
    meaning: "The verdict of a model contradicts its own scores, also after it was asked again; there is no score.",
    hint: "The reward is unscored and counted; use a stronger model, or fewer criteria.",
    retryable: false,
  },
  JUDGE_UNREADABLE: {
    meaning:
      "The reply of a model that judges cannot be read as a verdict, also after it was asked for twice more; there is no score.",
    hint: "The reward is unscored and counted; read the quoted reply, raise `max_tokens`, or use a stronger model.",
    retryable: false,
  },
} as const;

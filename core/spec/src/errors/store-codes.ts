/** Codes of the episode store. */
export const STORE_CODES = {
  LOGPROBS_DIFFER: {
    meaning: "Stored log-probabilities of a run are not those of the weights that the run recorded for them.",
    hint: "The store was changed, or the sampler used other weights or another distribution than it stated. Do not learn from these episodes.",
    retryable: false,
  },
  QUERY_INVALID: {
    meaning: "A query of an episode store is wrong SQL, or does more than read.",
    hint: "docs/reference/store.md has the views and their columns.",
    retryable: false,
  },
  QUERY_LIMIT: {
    meaning: "A query of an episode store took longer or needed more memory than it may.",
    hint: "Select fewer columns or rows, or raise the limit.",
    retryable: false,
  },
  REPLAY_DIFFERS: {
    meaning: "Learning again from the stored batches of a run gave other weights than the run recorded.",
    hint: "Equal bits need the device, the versions and the number of threads that run.json of the run names. Where these are the same, a batch of the store or the checkpoint was changed, or the algorithm is not a function of its inputs.",
    retryable: false,
  },
  STORE_CONFLICT: {
    meaning: "An operation on an episode store disagrees with one that the store holds.",
    hint: "Two processes write to one store, or the store is of another run.",
    retryable: false,
  },
  STORE_FAILED: {
    meaning: "An episode store cannot be written.",
    hint: "Read the reason, remove it, and resume the run.",
    retryable: false,
  },
  STORE_INVALID: {
    meaning: "A file is no episode store of this run and version, or it is damaged.",
    hint: "Restore the store of the run, or start a new run.",
    retryable: false,
  },
  STORE_UNAVAILABLE: {
    meaning: "The server of an episode store cannot be reached.",
    hint: "Check that `mrlm store serve`, or the server of Postgres, runs and that its address is right.",
    retryable: true,
  },
} as const;

/** Codes of samplers outside the trainer, and of the weights that they receive. */
export const SAMPLER_CODES = {
  SAMPLER_DIFFERS: {
    meaning:
      "A sampler computes with another device, another version of torch, or another number of threads than the trainer, or is a server of another project, in a run that promises equal bits.",
    hint: "Start the sampler with the device and the versions of the trainer, or set `engine.mode: throughput` or `play.mode: async`.",
    retryable: false,
  },
  SAMPLER_INVALID: {
    meaning:
      "A sampler broke its contract: a response is malformed, incomplete, or of another version of the weights than it states.",
    hint: "The sampler was taken out of service. Update the server, or report this to the author of its plugin.",
    retryable: false,
  },
  SAMPLER_PROBE_FAILED: {
    meaning:
      "Log-probabilities of a sampler differ from those of the trainer: it has other weights than it states, or another distribution.",
    hint: "The sampler was taken out of service. Restart its server with the flags of its plugin's README.",
    retryable: false,
  },
  SAMPLER_UNAVAILABLE: {
    meaning: "A sampler cannot be reached, or did not answer in time.",
    hint: "Check that its process runs, and its address.",
    retryable: true,
  },
  WEIGHTS_INVALID: {
    meaning: "Weights that a sampler received are incomplete, malformed, or differ from the trainer's checksum.",
    hint: "Update again. If it fails again, the machine or the network damages data.",
    retryable: true,
  },
  WEIGHTS_VERSION: {
    meaning: "The trainer has published other weights than the version that a sampler was to read.",
    hint: "Update the sampler to the newest version.",
    retryable: true,
  },
} as const;

import { z } from "zod";
import { evaluationEnvironmentSection } from "./environments.ts";
import { pluginOptions } from "./json-schema.ts";

/** Sampling of one policy, of one stage or of one learner. */
export const ownSampling = z.strictObject({
  temperature: z.number().nonnegative().optional().describe("Sampling temperature; 0 is greedy"),
  max_tokens: z.int().positive().optional().describe("Largest number of tokens of a turn"),
  min_tokens: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "Tokens of a turn before which it cannot stop. PPO and GRPO refuse it: their log-probabilities are of the whole distribution",
    ),
  top_p: z.number().gt(0).max(1).optional().describe("Algorithms refuse to train on samples whose support was cut"),
  top_k: z.int().positive().optional().describe("Like `top_p`"),
  ignore_stop: z.boolean().optional().describe("Stop tokens do not end a turn: each has max_tokens (benchmarks)"),
});

/** `reference_model`: the model whose divergence from the policy is measured. */
const referenceModel = z.strictObject({
  path: z
    .string()
    .min(1)
    .optional()
    .describe("Hugging Face directory, run or checkpoint; default: the policy at the start of the stage"),
  reset_every: z
    .int()
    .positive()
    .optional()
    .describe("Iterations after which the reference becomes the present policy"),
  ema: z
    .number()
    .gt(0)
    .lt(1)
    .optional()
    .describe(
      "Decay β of an exponential average of weights: after each iteration, reference <- β reference + (1 - β) policy",
    ),
});

/** Keys of the algorithm that trains one policy. */
const learnerModels = {
  reference_model: referenceModel
    .optional()
    .describe("Reference of algorithms that measure a divergence; default: the policy at the start of the stage"),
};

/** Entry of `stages[].learners`: the algorithm that trains one policy, and its options. */
const learnerSection = z
  .object({
    algorithm: z.string().min(1).describe("`grpo@1`, or `grpo` for the newest version installed"),
    sampling: ownSampling.optional().describe("Replaces keys of the stage's sampling for this policy"),
    ...learnerModels,
    options: pluginOptions.optional().describe("Options of the algorithm; they may also be beside `algorithm`"),
  })
  .catchall(z.json());

/** Entry of `stages`: an algorithm and its options, or several learners. */
export const stageSection = z
  .object({
    algorithm: z.string().min(1).optional().describe("`grpo@1`, or `grpo` for the newest version installed"),
    learners: z
      .record(z.string(), learnerSection)
      .optional()
      .describe(
        "Instead of `algorithm`: by policy, the algorithm that trains it and its options. All learn from the same episodes",
      ),
    name: z.string().min(1).optional().describe("Name in reports; default: the algorithms' names"),
    sampling: ownSampling.optional().describe("Replaces keys of the run's `sampling` in this stage"),
    until: z
      .strictObject({
        accuracy: z
          .number()
          .gt(0)
          .max(1)
          .describe("Share of tasks solved at temperature 0; the mean over several environments"),
        every: z.int().positive().optional().describe("Iterations between two measurements; default 1"),
        tasks: z
          .int()
          .positive()
          .optional()
          .describe("Number of training tasks of each environment for the measurement, the last ones; default 256"),
      })
      .optional()
      .describe("Ends the stage as soon as the policy reaches this accuracy. Held-out tasks are not used"),
    ...learnerModels,
    options: pluginOptions.optional().describe("Options of the algorithm; they may also be beside `algorithm`"),
  })
  .catchall(z.json());

/** `sampling`: sampling of episodes. */
export const samplingSection = z.strictObject({
  temperature: z
    .number()
    .nonnegative()
    .optional()
    .describe("Temperature of training and of sampled evaluation; default 1"),
  max_tokens: z.int().positive().optional().describe("Largest number of tokens of a turn; default 256"),
  min_tokens: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "Tokens of a turn before which it cannot stop; default 0. PPO and GRPO refuse it: their log-probabilities are of the whole distribution",
    ),
  top_p: z.number().gt(0).max(1).optional().describe("Algorithms refuse to train on samples whose support was cut"),
  top_k: z.int().positive().optional().describe("Like `top_p`"),
  ignore_stop: z
    .boolean()
    .optional()
    .describe("Stop tokens do not end a turn: each has max_tokens (benchmarks); default false"),
  max_sequence_tokens: z
    .int()
    .positive()
    .optional()
    .describe("Largest number of tokens of one agent's context, prompt included; default: the model's positions"),
  concurrency: z.int().positive().optional().describe("Number of concurrent episodes; default 256"),
});

/** `play`: how episodes are played beside learning. */
export const playSection = z.strictObject({
  mode: z
    .enum(["sync", "pipelined", "async"])
    .optional()
    .describe(
      "`sync`: a batch is played after the one before it was learnt from. `pipelined`: while it is learnt from, with older weights, and every bit still follows from the configuration. `async`: play never waits, and runs cannot be repeated bit by bit. Default `sync`",
    ),
  lag: z
    .int()
    .nonnegative()
    .max(1_000)
    .optional()
    .describe(
      "For `pipelined`: number of batches that are played ahead. For `async`: largest age of a token in weight versions; groups with older ones are refused and replaced. At most 1000. Default 1; 0 for `sync`",
    ),
  on_stale: z
    .enum(["drop", "mask"])
    .optional()
    .describe(
      "For `async`: `drop` refuses a group with a token that is older than `lag`; `mask` learns from its other tokens, and refuses it where no token is younger. Default `drop`",
    ),
  in_flight: z
    .enum(["recompute", "keep", "wait"])
    .optional()
    .describe(
      "For `async`: sequences that are sampled while weights change. `recompute`: their state is computed again, so each token is of exactly the weights of its version. `keep`: their state stays, which is faster and inexact. `wait`: the weights change when they have ended. Default `recompute`",
    ),
  max_kl: z
    .number()
    .positive()
    .optional()
    .describe(
      "Largest divergence of the newest weights from those that played, `offpolicy/kl` in nats a token; a step above it ends the run with OFF_POLICY. Default: none",
    ),
  cohorts: z
    .int()
    .positive()
    .optional()
    .describe(
      "Parts into which the groups of a batch are divided, of each environment. Each part is sampled by itself; other numbers of parts may change the last bits of the result; default 1",
    ),
});

/** `eval`: evaluation on held-out tasks before, between and after the stages. */
export const evalSection = z.strictObject({
  environments: z
    .array(evaluationEnvironmentSection)
    .optional()
    .describe("Entries as in `environments`; default: the environments trained on"),
  split: z.string().min(1).optional().describe("Split of the tasks; default `eval`"),
  may_fail: z
    .boolean()
    .optional()
    .describe(
      "Train also where no episode of an environment could be scored in the evaluation at the start; default false",
    ),
  tasks: z
    .int()
    .nonnegative()
    .optional()
    .describe("Number of tasks of each environment, the first ones; default 256; 0: no evaluation"),
  samples: z
    .int()
    .nonnegative()
    .optional()
    .describe("Number of sampled episodes of each task, beside the greedy one; default 1"),
  every: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "Iterations between two evaluations within a stage; default 0: only before, between and after the stages",
    ),
});

import type { JsonObject } from "@mrlm/spec";
import { z } from "zod";
import { evaluationEnvironmentSection } from "./environments.ts";
import { modelPath, pluginOptions } from "./values.ts";

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
    .transform(modelPath)
    .optional()
    .describe(
      "Hugging Face directory, run, checkpoint, GGUF file or `hub:ORG/NAME`; default: the policy at the start of the stage",
    ),
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

const learnerKeys = z
  .object({
    algorithm: z.string().min(1).describe("`grpo@1`, or `grpo` for the newest version installed"),
    sampling: ownSampling.optional().describe("Replaces keys of the stage's sampling for this policy"),
    ...learnerModels,
    options: pluginOptions.optional().describe("Options of the algorithm; they may also be beside `algorithm`"),
  })
  .catchall(z.json());

const share = z.number().min(0).max(1);

/** `curriculum`: order of the tasks by their measured pass rates. */
export const curriculumSection = z
  .strictObject({
    pass_rate: z
      .tuple([share, share])
      .refine(([low, high]) => low < high, "the lower rate comes first")
      .default([0.1, 0.9])
      .describe(
        "Range of the pass rates of active tasks: mean rewards, from 0 for the smallest of the environment to 1",
      ),
    fresh: share
      .default(0.5)
      .describe(
        "Share of the groups for tasks that were never drawn, and a fifth of it for those of whose evidence less than an episode is left",
      ),
    hard: share.default(0.05).describe("Share of the groups for tasks below the range"),
    half_life: z.number().positive().default(16).describe("Batches after which a measurement weighs half"),
    mixture: z
      .enum(["weights", "progress"])
      .default("weights")
      .describe(
        "Shares of the environments: their `weight`, or 0.2 of it and the rest by weight times how much their pass rates change",
      ),
  })
  .refine(({ fresh, hard }) => fresh + hard < 1, { error: "`fresh` and `hard` must leave a share for active tasks" });

/** Moves the options that are beside `algorithm` into `options`. */
function learnerOf({
  algorithm,
  sampling,
  reference_model,
  options,
  ...beside
}: Pick<z.output<typeof learnerKeys>, "algorithm" | "sampling" | "reference_model" | "options">) {
  return {
    algorithm,
    ...(sampling && { sampling }),
    ...(reference_model && { reference_model }),
    options: { ...(beside as JsonObject), ...options },
  };
}

/** Entry of `stages[].learners`: the algorithm that trains one policy, and its options. */
const learnerSection = learnerKeys.transform(learnerOf);

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
        every: z.int().positive().default(1).describe("Iterations between two measurements"),
        tasks: z
          .int()
          .positive()
          .default(256)
          .describe("Number of training tasks of each environment for the measurement, the last ones"),
      })
      .optional()
      .describe("Ends the stage as soon as the policy reaches this accuracy. Held-out tasks are not used"),
    curriculum: curriculumSection
      .optional()
      .describe(
        "Chooses training tasks by their measured pass rates; `{}` for the defaults. Default: each task once in an epoch",
      ),
    ...learnerModels,
    options: pluginOptions.optional().describe("Options of the algorithm; they may also be beside `algorithm`"),
  })
  .catchall(z.json())
  .transform(({ algorithm, learners, name, sampling, until, curriculum, ...beside }) => ({
    name,
    sampling,
    ...(until && { until }),
    ...(curriculum && { curriculum }),
    learners,
    // The policy that it trains is the only one of the run.
    learner: algorithm === undefined ? undefined : learnerOf({ ...beside, algorithm }),
  }));

const { min_tokens, ignore_stop } = ownSampling.shape;

/** `sampling`: sampling of episodes. */
export const samplingSection = ownSampling.extend({
  temperature: z.number().nonnegative().default(1).describe("Temperature of training and of sampled evaluation"),
  max_tokens: z.int().positive().default(256).describe("Largest number of tokens of a turn"),
  min_tokens: min_tokens.meta({ default: 0 }),
  ignore_stop: ignore_stop.meta({ default: false }),
  max_sequence_tokens: z
    .int()
    .positive()
    .optional()
    .describe("Largest number of tokens of one agent's context, prompt included; default: the model's positions"),
  concurrency: z.int().positive().default(256).describe("Number of concurrent episodes"),
});

/** `play`: how episodes are played beside learning. */
export const playSection = z
  .strictObject({
    mode: z
      .enum(["sync", "pipelined", "async"])
      .default("sync")
      .describe(
        "`sync`: a batch is played after the one before it was learnt from. `pipelined`: while it is learnt from, with older weights, and every bit still follows from the configuration. `async`: without a pause; the versions of the weights that play follow from the speed of the machine",
      ),
    lag: z
      .int()
      .nonnegative()
      .max(1_000)
      .optional()
      .describe(
        "For `pipelined`: number of batches that are played ahead. For `async`: largest age of a token, in batches that were learnt from since. At most 1000. Default 1; 0 for `sync`",
      ),
    on_stale: z
      .enum(["wait", "correct"])
      .optional()
      .describe(
        "For `async`: `wait`: learning waits for a group that would become older than `lag`, and batches are in the order of opening. `correct`: batches are of the groups that were played first, and older tokens are learnt from with the correction of the algorithm",
      )
      .meta({ default: "wait" }),
    in_flight: z
      .enum(["recompute", "keep", "wait"])
      .optional()
      .describe(
        "For `async`: sequences that are sampled while weights change. `recompute`: their state is computed again, so each token is of exactly the weights of its version. `keep`: their state stays, which is faster and inexact. `wait`: the weights change when they have ended",
      )
      .meta({ default: "recompute" }),
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
      .default(1)
      .describe(
        "Parts into which the groups of a batch are divided, of each environment. Each part is sampled by itself; other numbers of parts may change the last bits of the result",
      ),
  })
  .transform(({ mode, lag = mode === "sync" ? 0 : 1, ...rest }) => ({ ...rest, mode, lag }));

/** `eval`: evaluation on held-out tasks before, between and after the stages. */
export const evalSection = z.strictObject({
  environments: z
    .array(evaluationEnvironmentSection)
    .optional()
    .describe("Entries as in `environments`; default: the environments trained on"),
  split: z.string().min(1).default("eval").describe("Split of the tasks"),
  may_fail: z
    .boolean()
    .default(false)
    .describe("Train also where no episode of an environment could be scored in the evaluation at the start"),
  tasks: z
    .int()
    .nonnegative()
    .default(256)
    .describe("Number of tasks of each environment, the first ones; 0: no evaluation"),
  samples: z.int().nonnegative().default(1).describe("Number of sampled episodes of each task, beside the greedy one"),
  every: z
    .int()
    .nonnegative()
    .default(0)
    .describe("Iterations between two evaluations within a stage; 0: only before, between and after the stages"),
});

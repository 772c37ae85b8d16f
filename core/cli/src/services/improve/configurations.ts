import type { JsonObject } from "@mrlm/spec";
import { plainJson } from "../plain-json.ts";
import type { ExpectedAnswers, InspectedCases } from "./inspected-cases.ts";

/** Names of the runs in the directory of an improvement, before the time in the names of their directories. */
export const NAMES = { train: "train", measure: "measure" } as const;

/** Least limit of the tokens of an answer. The model before is not to lose because it writes more than the file expects. */
const MAX_TOKENS = 256;
const SFT = { algorithm: "sft", batch_size: 16, learning_rate: 5e-5, lr_schedule: "linear" } as const;
const GRPO = {
  ...{ algorithm: "grpo", prompts_per_step: 8, group_size: 6, learning_rate: 1e-5, warmup_steps: 2 },
} as const;
/** Passes over the training cases: of SFT, of GRPO after it, and of GRPO where the scorer alone shows what is right. */
const PASSES = { sft: 4, grpo: 1, alone: 4 } as const;
/** Bounds of the updates of a stage. */
const [FEWEST_STEPS, MOST_STEPS] = [10, 400];

/** Input of both configurations. */
interface Shared {
  readonly directory: string;
  readonly cases: InspectedCases;
  readonly expected: ExpectedAnswers | undefined;
}

/** Returns the configuration that trains: SFT on the expected answers where each training case has one, then GRPO by its scorers, on training cases alone. */
export function trainingConfig({ directory, cases, expected }: Shared, model: object): JsonObject {
  return {
    name: NAMES.train,
    model: plainJson(model),
    environments: [{ ...cases.ref }],
    sampling: { temperature: 1, max_tokens: maxTokensOf(expected) },
    stages:
      expected === undefined || expected.missing > 0
        ? [{ ...GRPO, steps: stepsOf(cases, PASSES.alone, GRPO.prompts_per_step) }]
        : [
            { ...SFT, steps: stepsOf(cases, PASSES.sft, SFT.batch_size) },
            { ...GRPO, steps: stepsOf(cases, PASSES.grpo, GRPO.prompts_per_step) },
          ],
    // Held-out cases are measured once, at the end.
    eval: { tasks: 0 },
    checkpoint: { every: 10, keep: 1 },
    output: { directory },
  };
}

/** Returns the configuration that measures the model before and after on all held-out cases. */
export function measuringConfig({ directory, cases, expected }: Shared, before: string, after: string): JsonObject {
  return {
    name: NAMES.measure,
    models: { before, after },
    sampling: { max_tokens: maxTokensOf(expected) },
    eval: { tasks: cases.held, samples: 0, environments: [{ ...cases.ref }] },
    output: { directory },
  };
}

function stepsOf({ train }: InspectedCases, passes: number, batch: number): number {
  return Math.min(MOST_STEPS, Math.max(FEWEST_STEPS, Math.ceil((passes * train) / batch)));
}

/** Returns a limit that the longest expected answer does not reach: a token has one character or more in most texts. */
function maxTokensOf(expected: ExpectedAnswers | undefined): number {
  return Math.max(MAX_TOKENS, (expected?.longest ?? 0) + 8);
}

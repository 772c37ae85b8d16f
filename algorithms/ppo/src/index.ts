import {
  type AlgorithmDefinition,
  assertWholeDistribution,
  definePlugin,
  MrlmError,
  uncorrected,
} from "@mrlm/kit/learning";
import { type PpoOptions, ppoOptions } from "./options.ts";
import { startPpo } from "./ppo-run.ts";

/** `ppo@1`: proximal policy optimization. */
export const ppo: AlgorithmDefinition<PpoOptions> = {
  id: "ppo@1",
  description:
    "Proximal policy optimization (arXiv 1707.06347): plays episodes and reinforces tokens with more reward than a learned critic predicts.",
  options: ppoOptions,
  iterations: (options) => options.steps,
  plays: (options) => ({
    name: "ppo",
    groups: options.prompts_per_step,
    groupSize: options.group_size,
    uncorrected: uncorrected(options),
  }),
  needsValueHead: ({ critic }) => critic === "shared",
  memory: ({ critic, critic_path: path, kl_coefficient, group_size }) => ({
    reference: kl_coefficient > 0,
    unitSequences: group_size,
    ...(critic === "shared" ? {} : { critic: path === undefined ? ("copy" as const) : { path } }),
  }),
  validate(_options, _environments, sampling) {
    if (sampling.temperature <= 0)
      throw new MrlmError(
        "CONFIG_INVALID",
        "sampling.temperature is 0: a policy that never varies finds nothing better.",
      );
    assertWholeDistribution(sampling);
  },
  create: startPpo,
};

export default definePlugin({
  name: "@mrlm/ppo",
  algorithms: [ppo],
  examples: {
    algorithms: {
      "ppo@1": {
        options: { steps: 10, prompts_per_step: 24, learning_rate: 0.1, critic_learning_rate: 0.05 },
        invalid: [{ gamma: 1.1 }, { minibatches: 25 }, { kl_target: 1 }, { sampling: { temperature: 0 } }],
      },
    },
  },
});

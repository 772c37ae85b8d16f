import { definePlugin } from "@mrlm/kit";
import { type AlgorithmDefinition, MrlmError } from "@mrlm/spec";
import { type PpoOptions, ppoOptions } from "./options.ts";
import { startPpo } from "./ppo-run.ts";

export { explainedVariance } from "./explained-variance.ts";
export { generalizedAdvantages, type TokenSteps, whiten } from "./gae.ts";
export { type PpoOptions, ppoOptions } from "./options.ts";
export { valueLoss } from "./value-loss.ts";

/** `ppo@1`: proximal policy optimisation. */
export const ppo: AlgorithmDefinition<PpoOptions> = {
  id: "ppo@1",
  description: "Proximal policy optimisation (arXiv 1707.06347) with a learnt critic.",
  options: ppoOptions,
  iterations: (options) => options.steps,
  needsValueHead: ({ critic }) => critic === "shared",
  validate(options, environments) {
    if (environments.length === 0) throw new MrlmError("CONFIG_INVALID", "ppo has no environment to play in.", { hint: "Name one under `environments`." });
    const { critic_path, critic_learning_rate, critic_warmup_steps } = options;
    const separate = Object.entries({ critic_path, critic_learning_rate, critic_warmup_steps: critic_warmup_steps || undefined }).find(([, value]) => value !== undefined);
    if (options.critic === "shared" && separate !== undefined) {
      throw new MrlmError("CONFIG_INVALID", `${separate[0]} is for a separate critic; a shared one is the policy itself.`, { hint: `Leave ${separate[0]} out, or set critic: separate.` });
    }
    if (options.kl_target !== undefined && options.kl_coefficient === 0) {
      throw new MrlmError("CONFIG_INVALID", "kl_target adapts kl_coefficient, which is 0 and stays so.", { hint: "Set kl_coefficient to where it should start, 0.05 for instance." });
    }
  },
  create: startPpo,
};

export default definePlugin({ name: "@mrlm/ppo", algorithms: [ppo] });

import { definePlugin } from "@mrlm/kit/learning";
import { defineGrpo } from "./define-grpo.ts";
import { grpoOptions } from "./options.ts";

export { grpoWithLoss } from "./define-grpo.ts";
export { perToken } from "./losses/policy-loss.ts";

/** `grpo@1`: group relative policy optimization and its family. */
export const grpo = defineGrpo(
  {
    id: "grpo@1",
    description:
      "Group relative policy optimization (arXiv 2402.03300): plays each task several times and reinforces the episodes with more reward than the mean of their group.",
    options: grpoOptions,
  },
  (options) => options,
);

export default definePlugin({
  name: "@mrlm/grpo",
  algorithms: [grpo],
  examples: {
    algorithms: {
      "grpo@1": {
        options: { steps: 10, prompts_per_step: 8, group_size: 4, learning_rate: 0.5 },
        invalid: [{ group_size: 1 }, { minibatches: 9 }, { clip_low: 1.5 }, { sampling: { temperature: 0 } }],
      },
    },
  },
});

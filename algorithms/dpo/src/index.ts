import { definePlugin } from "@mrlm/kit/learning";
import { defineDpo } from "./define-dpo.ts";
import { dpoOptions } from "./options.ts";

export { dpoWithLoss } from "./define-dpo.ts";

/** `dpo@1`: direct preference optimization and its family. */
export const dpo = defineDpo(
  {
    id: "dpo@1",
    description:
      "Direct preference optimization (arXiv 2305.18290): learns from pairs of a better and a worse answer, or from single answers of either kind.",
    options: dpoOptions,
  },
  (options) => options,
);

export default definePlugin({
  name: "@mrlm/dpo",
  algorithms: [dpo],
  examples: {
    algorithms: {
      "dpo@1": {
        options: { steps: 8, batch_size: 16, prompts: 12, group_size: 4, pairs_per_group: 2, learning_rate: 0.3 },
        metric: "loss/preference",
        change: -0.05,
        invalid: [{ batch_size: 0 }, { loss: "kto", batch_size: 1 }, { sampling: { temperature: 0 } }],
      },
    },
  },
});

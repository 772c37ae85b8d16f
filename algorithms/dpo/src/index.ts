import { type AlgorithmDefinition, definePlugin, MrlmError } from "@mrlm/kit/learning";
import { startDpo } from "./dpo-run.ts";
import { lossEntry } from "./losses/index.ts";
import { checkPairRows } from "./file-pairs.ts";
import { holdsReference } from "./reference.ts";
import { type DpoOptions, dpoOptions } from "./options.ts";

export { dpoOptions } from "./options.ts";
export { preferenceLoss } from "./losses/index.ts";

/** `dpo@1`: direct preference optimization and its family. */
export const dpo: AlgorithmDefinition<DpoOptions> = {
  id: "dpo@1",
  description:
    "Direct preference optimization (arXiv 2305.18290): learns from pairs of a better and a worse answer, or from single answers of either kind.",
  options: dpoOptions,
  iterations: (options) => options.steps,
  plays: ({ data, prompts, group_size, collect_every }) =>
    data === undefined ? { name: "dpo", groups: prompts, groupSize: group_size, every: collect_every } : undefined,
  memory: (options) => ({ reference: holdsReference(options), unitSequences: 2 }),
  files: ({ data }) => (data === undefined ? [] : [data]),
  checkRows: (options, path, rows) => checkPairRows(rows, path, options),
  validate(options, _environments, sampling) {
    if (options.data === undefined && sampling.temperature <= 0) {
      throw new MrlmError(
        "CONFIG_INVALID",
        "sampling.temperature is 0: all episodes of a group would be the same, and none better than another.",
        { hint: "Set a temperature above 0 under `sampling`, or learn from pairs of a file (`data`)." },
      );
    }
    if (lossEntry(options.loss).needs === "divergence" && options.batch_size < 2) {
      throw new MrlmError(
        "CONFIG_INVALID",
        `${options.loss} estimates the divergence from the other answers of the batch: batch_size must be at least 2.`,
      );
    }
  },
  create: startDpo,
};

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

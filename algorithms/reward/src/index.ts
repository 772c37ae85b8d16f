import { fileURLToPath } from "node:url";
import { type AlgorithmDefinition, definePlugin } from "@mrlm/kit/learning";
import { checkRows } from "./data.ts";
import { type RewardOptions, rewardOptions } from "./options.ts";
import { startReward } from "./reward-run.ts";

/** `reward@1`: reward models. */
export const reward: AlgorithmDefinition<RewardOptions> = {
  id: "reward@1",
  description:
    "Reward models (arXiv 2203.02155, arXiv 2305.20050): learns a score of answers from pairs of a better and a worse one, or from judged steps.",
  options: rewardOptions,
  iterations: (options) => options.steps,
  needsValueHead: () => true,
  memory: () => ({ unitSequences: 2 }),
  files: ({ data, heldout }) => [data, ...(heldout === undefined ? [] : [heldout])],
  checkRows: (_options, path, rows) => checkRows(rows, path),
  create: startReward,
};

export default definePlugin({
  name: "@mrlm/reward",
  algorithms: [reward],
  examples: {
    algorithms: {
      "reward@1": {
        options: {
          steps: 12,
          batch_size: 8,
          learning_rate: 0.1,
          // A bigram model knows the last token alone, which is the same for every turn: it learns the share of right ones.
          data: fileURLToPath(new URL("../examples/steps.jsonl", import.meta.url)),
        },
        metric: "loss/reward",
        change: -0.1,
        invalid: [{ batch_size: 0 }, { heldout_every: 5 }, { lr_floor: 1 }],
      },
    },
  },
});

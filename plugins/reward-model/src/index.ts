/** A scorer and a judge by a reward model: of a run or a directory in the engine of this process, or behind an endpoint. */
import { definePlugin } from "@mrlm/kit";
import { examples } from "./examples.ts";
import { rewardModelOptions } from "./options.ts";
import { RewardJudge } from "./reward-judge.ts";
import { RewardScorer } from "./reward-scorer.ts";
import { openSource } from "./score-source.ts";

export default definePlugin({
  name: "@mrlm/reward-model",
  options: rewardModelOptions,
  scorers: { "reward-model@1": (context, options) => new RewardScorer(openSource(context, options), options) },
  judges: { "reward-model@1": (context, options) => new RewardJudge(openSource(context, options), options) },
  examples,
});

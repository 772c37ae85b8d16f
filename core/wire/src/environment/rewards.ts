import type { Reward } from "@mrlm/spec";
import type * as wire from "../gen/mrlm/env/v1/environment.ts";
import { finite } from "../integers.ts";
import { invalid } from "../invalid.ts";

export function encodeReward(reward: Reward): wire.Reward {
  if (!reward.scored)
    return { result: { $case: "unscored", unscored: { code: reward.code, message: reward.message } } };
  const components = new Map(Object.entries(reward.components));
  for (const [name, value] of components) finite(value, `the reward component "${name}"`);
  return { result: { $case: "score", score: { value: finite(reward.value, "a reward"), components } } };
}

export function decodeReward({ result }: wire.Reward): Reward {
  switch (result?.$case) {
    case "score": {
      const { value, components } = result.score;
      for (const [name, component] of components) finite(component, `the reward component "${name}"`);
      return { scored: true, value: finite(value, "a reward"), components: Object.fromEntries(components) };
    }
    case "unscored":
      return { scored: false, code: result.unscored.code, message: result.unscored.message };
    default:
      throw invalid("a reward is neither scored nor unscored");
  }
}

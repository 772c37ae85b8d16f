import type { Reward } from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";
import type * as wire from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";

export function encodeReward(reward: Reward): wire.Reward {
  if (!reward.scored)
    return { result: { $case: "unscored", unscored: { code: reward.code, message: reward.message } } };
  const components = new Map(Object.entries(reward.components));
  for (const [name, value] of components) amount(value, `the reward component "${name}"`);
  return { result: { $case: "score", score: { value: amount(reward.value, "a reward"), components } } };
}

export function decodeReward({ result }: wire.Reward): Reward {
  switch (result?.$case) {
    case "score": {
      const { value, components } = result.score;
      for (const [name, component] of components) amount(component, `the reward component "${name}"`);
      return { scored: true, value: amount(value, "a reward"), components: Object.fromEntries(components) };
    }
    case "unscored":
      return { scored: false, code: result.unscored.code, message: result.unscored.message };
    default:
      throw invalid("a reward is neither scored nor unscored");
  }
}

/** Returns the number. Throws MESSAGE_INVALID unless a reward can have it. */
function amount(value: number, name: string): number {
  if (Math.abs(value) <= MAX_REWARD) return value;
  throw invalid(`${name} is ${value}, which is not a finite number of at most ${MAX_REWARD} from 0`);
}

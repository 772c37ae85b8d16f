import { type Judgement, type Reward, score, unscored } from "@mrlm/kit";
import type { DebateOptions } from "./options.ts";
import { otherSide, type Side, SIDES } from "./sides.ts";

/** Rewards of both sides. */
export type SideRewards = Readonly<Record<Side, Reward>>;

/** Names of the components of a reward: the judge's score of the agent and of the other side; empty and cut turns of the agent. */
export const COMPONENTS = ["score", "opponent", "empty", "cut"];

/**
 * Returns the rewards of a judgement. Zero-sum rewards are differences of the same two scores, so that their sum is exactly 0. A reward that needs an unscored score is unscored.
 */
export function rewardsOf({ rewards }: Judgement, kind: DebateOptions["rewards"]["kind"]): SideRewards {
  const rewardOf = (side: Side): Reward => {
    const own = judged(rewards[side]);
    const other = judged(rewards[otherSide(side)]);
    if (!own.scored) return own;
    const components = { score: own.value, ...(other.scored ? { opponent: other.value } : {}) };
    if (kind === "individual") return score(own.value, components);
    if (!other.scored) return other;
    return score(kind === "zero_sum" ? own.value - other.value : (own.value + other.value) / 2, components);
  };
  return { pro: rewardOf("pro"), con: rewardOf("con") };
}

/** Returns the change from earlier rewards; unscored if the new reward is. */
export function changeOf(now: SideRewards, before: SideRewards | undefined): SideRewards {
  if (before === undefined) return now;
  return bySide((side) => {
    const [to, from] = [now[side], before[side]];
    if (!to.scored || !from.scored) return to.scored ? from : to;
    const changes = Object.entries(to.components).map(([name, value]) => [name, value - (from.components[name] ?? 0)]);
    return score(to.value - from.value, Object.fromEntries(changes));
  });
}

/** Adds components to a scored reward. */
export function withComponents(reward: Reward, components: Readonly<Record<string, number>>): Reward {
  return reward.scored ? score(reward.value, { ...reward.components, ...components }) : reward;
}

export function bySide<T>(valueOf: (side: Side) => T): Record<Side, T> {
  return Object.fromEntries(SIDES.map((side) => [side, valueOf(side)])) as Record<Side, T>;
}

function judged(reward: Reward | undefined): Reward {
  return reward ?? unscored("SCORER_FAILED", "The judge gave no reward.");
}

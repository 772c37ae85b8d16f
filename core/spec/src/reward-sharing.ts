import type { AgentId, RoleId } from "./id.ts";
import type { Reward } from "./reward.ts";

/**
 * Matrix from the totals of roles to the rewards that roles learn from: `sharing[role][other]` is the weight of the total of `other`. A role without a row
 * learns from its own total. Of a role with `many`, each agent has its own total for the role's own entry; for other roles the entry is the mean over its
 * agents of the episode, and nothing where there is none.
 */
export type RewardSharing = Readonly<Record<RoleId, Readonly<Record<RoleId, number>>>>;

/** Reward that an agent learns from instead of its total: the sum of weight times total over agents. Unscored if one of these totals is. */
export type SharedReward = Reward & {
  /** Weights other than 0, by agent of the episode. */
  readonly weights: Readonly<Record<AgentId, number>>;
};

import type { AgentTrajectory, Reward } from "@mrlm/spec";

/** Returns the reward that an agent learns from: the shared one where roles share rewards, else the total of the environment. */
export function learntReward({ shared, total }: Pick<AgentTrajectory, "shared" | "total">): Reward {
  return shared ?? total;
}
